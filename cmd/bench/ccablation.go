package main

import (
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"nearglass/cc/lab"
)

// ablate runs the rows with each part of the controller switched off, and
// prints those that it changes.
func (c ccCmd) ablate(s settings) error {
	rows, err := c.chosen(s)
	if err != nil {
		return err
	}
	kinds := lab.Ablation()
	whole := c.figures(rows, lab.Ours("ours", 0))
	var without []figures
	head := []string{"measure", "unit", "ours"}
	for _, k := range kinds {
		without = append(without, c.figures(rows, k))
		head = append(head, k.Name)
	}
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, strings.Join(head, "\t"))
	for _, r := range rows {
		ours := r.Worst(whole[r.Measure])
		cells := []string{r.Measure, r.Unit, fmt.Sprintf("%.4g", ours)}
		telling := false
		for _, f := range without {
			v := r.Worst(f[r.Measure])
			cell := "."
			if differs(v, ours) {
				cell, telling = fmt.Sprintf("%.4g", v), true
				if r.Better(ours, v) {
					cell += " -"
				}
			}
			cells = append(cells, cell)
		}
		if telling {
			fmt.Fprintln(t, strings.Join(cells, "\t"))
		}
	}
	fmt.Fprintln(t, "\n. : within 5 % of ours; - : worse without that part. Rows that no part changes are left out.")
	return t.Flush()
}

// differs says whether two figures are more than 5 % apart.
func differs(a, b float64) bool {
	return max(a, b)-min(a, b) > 0.05*max(abs(a), abs(b))
}

func abs(v float64) float64 { return max(v, -v) }
