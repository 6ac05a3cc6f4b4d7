package server

// sorted is an error put into one of the HTTP side's classes, which chooses the
// status of the answer. It reads as the error alone: the class says the same in
// general words, and the answer's title has those.
type sorted struct{ class, err error }

func (s sorted) Error() string   { return s.err.Error() }
func (s sorted) Unwrap() []error { return []error{s.class, s.err} }
