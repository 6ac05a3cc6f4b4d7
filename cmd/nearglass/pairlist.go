package main

import (
	"fmt"
	"text/tabwriter"
	"time"

	"nearglass/server/access"
)

type pairListCmd struct {
	JSON bool `name:"json" help:"Print JSON, for programs."`
}

// Run lists the devices, oldest first.
func (p *pairListCmd) Run(e *env) error {
	d, err := e.devices()
	if err != nil {
		return err
	}
	list, err := d.Devices(e.ctx)
	if err != nil {
		return err
	}
	if p.JSON {
		return printJSON(e.out, deviceRows(list))
	}
	if len(list) == 0 {
		fmt.Fprintln(e.out, "No device is paired.")
		return nil
	}
	t := tabwriter.NewWriter(e.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tRIGHTS\tLAST SEEN\tPAIRED\tNAME")
	for _, d := range list {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", d.ID, d.Rights, day(d.LastSeen), day(d.Created), d.Name)
	}
	return t.Flush()
}

func day(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

// deviceRow is a device as JSON shows it: without its token's hash.
type deviceRow struct {
	ID       string        `json:"id"`
	Name     string        `json:"name"`
	Rights   access.Rights `json:"rights"`
	Created  time.Time     `json:"created"`
	LastSeen time.Time     `json:"lastSeen"`
}

func deviceRows(list []access.Device) []deviceRow {
	rows := []deviceRow{}
	for _, d := range list {
		rows = append(rows, deviceRow{d.ID, d.Name, d.Rights, d.Created, d.LastSeen})
	}
	return rows
}
