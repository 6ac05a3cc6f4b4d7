package session

import "slices"

// Repair names the ways in which losses are repaired.
type Repair string

// Ways to repair losses. Those other than RepairAuto leave something out that is
// there, to show what it is worth.
const (
	// RepairAuto resends, repairs by reference or codes a key frame, whichever the
	// viewer takes and is there first.
	RepairAuto Repair = "auto"
	// RepairResend resends, and codes a key frame where that is too late. The host
	// negotiates no references in packets (Config.Gaps is false).
	RepairResend Repair = "rtx"
	// RepairKey codes a key frame at each loss and resends nothing. It negotiates
	// as RepairResend does.
	RepairKey Repair = "idr"
	// RepairReference repairs each loss by reference and resends nothing.
	RepairReference Repair = "reference"
)

// Repairs lists all ways.
var Repairs = []Repair{RepairAuto, RepairResend, RepairKey, RepairReference}

// Known says whether r is one of Repairs, or empty.
func (r Repair) Known() bool { return r == "" || slices.Contains(Repairs, r) }

// ByReference says whether repairs by reference are among the ways.
func (r Repair) ByReference() bool { return r != RepairResend && r != RepairKey }

// resends says whether packets are sent again.
func (c *Config) resends() bool {
	return !c.NoRTX && c.Repair != RepairKey && c.Repair != RepairReference
}

// auto says whether all is done that the viewer takes.
func (c *Config) auto() bool { return c.Repair == "" || c.Repair == RepairAuto }

// costsKey says whether a key frame answers a request for these packets.
func (s *Session) costsKey(nacks []uint16) bool {
	if s.c.Repair == RepairKey {
		return len(nacks) > 0
	}
	return s.pacer.BeyondRepair(nacks) && !s.mender.active()
}
