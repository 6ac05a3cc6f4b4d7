package lab

import "slices"

// Job is the runs of one scenario with one controller, and the rows that are
// computed from them.
type Job struct {
	Scenario Scenario
	Kind     Kind
	Rows     []Row
}

// Jobs gives a job for each scenario that the rows need.
func Jobs(rows []Row, k Kind) []Job {
	var jobs []Job
	all := Scenarios()
	for _, r := range rows {
		i := slices.IndexFunc(jobs, func(j Job) bool { return j.Scenario.Name == r.Scenario })
		if i < 0 {
			at := slices.IndexFunc(all, func(s Scenario) bool { return s.Name == r.Scenario })
			if at < 0 {
				panic("no scenario " + r.Scenario) // a mistake in rows.go, and a test finds it
			}
			i = len(jobs)
			jobs = append(jobs, Job{Scenario: all[at], Kind: k})
		}
		jobs[i].Rows = append(jobs[i].Rows, r)
	}
	return jobs
}

// Measure plays one seed and gives the figures of the job's rows, in order.
func (j Job) Measure(seed uint64) []float64 {
	r := Run(j.Scenario, j.Kind, seed)
	values := make([]float64, len(j.Rows))
	for i, row := range j.Rows {
		values[i] = row.value(r)
	}
	return values
}
