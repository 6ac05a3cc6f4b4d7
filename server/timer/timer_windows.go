package timer

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// period is what is asked for, in milliseconds; timeBeginPeriod has no finer.
const period = 1

// throttling is PROCESS_POWER_THROTTLING_STATE (processthreadsapi.h).
type throttling struct {
	version uint32
	control uint32 // which kinds are decided here
	state   uint32 // which of these are on
}

const (
	processPowerThrottling = 4   // of PROCESS_INFORMATION_CLASS
	throttlingVersion      = 1   // PROCESS_POWER_THROTTLING_CURRENT_VERSION
	ignoreTimerResolution  = 0x4 // PROCESS_POWER_THROTTLING_IGNORE_TIMER_RESOLUTION
)

var setProcessInformation = windows.NewLazySystemDLL("kernel32.dll").NewProc("SetProcessInformation")

// fine asks for the period, and to have it also while minimised.
func fine() error {
	if err := windows.TimeBeginPeriod(period); err != nil {
		return err
	}
	decideThrottling(ignoreTimerResolution)
	return nil
}

// coarse takes the request back and leaves the rest to the system again.
func coarse() error {
	decideThrottling(0)
	return windows.TimeEndPeriod(period)
}

// decideThrottling switches off the kinds of throttling given and leaves all
// others to the system. A system before Windows 11 refuses, and has no such
// throttling either: so an answer is of no use.
func decideThrottling(kinds uint32) {
	if setProcessInformation.Find() != nil {
		return
	}
	t := throttling{version: throttlingVersion, control: kinds}
	_, _, _ = setProcessInformation.Call(uintptr(windows.CurrentProcess()), processPowerThrottling,
		uintptr(unsafe.Pointer(&t)), unsafe.Sizeof(t))
}
