package transport

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/pion/logging"
)

// pionLogs passes pion's errors and warnings on at debug level: what a person
// has to know reaches the session as an error or an event, and pion warns of
// much that is normal, such as a candidate that does not answer.
type pionLogs struct{ log *slog.Logger }

func (l pionLogs) NewLogger(scope string) logging.LeveledLogger {
	return pionLog{l.log.With("pion", scope)}
}

type pionLog struct{ log *slog.Logger }

func (pionLog) Trace(string)          {}
func (pionLog) Tracef(string, ...any) {}
func (pionLog) Debug(string)          {}
func (pionLog) Debugf(string, ...any) {}
func (pionLog) Info(string)           {}
func (pionLog) Infof(string, ...any)  {}

func (l pionLog) Warn(msg string)  { l.pass("pion warns", msg) }
func (l pionLog) Error(msg string) { l.pass("pion reports an error", msg) }

func (l pionLog) Warnf(format string, args ...any)  { l.passf("pion warns", format, args) }
func (l pionLog) Errorf(format string, args ...any) { l.passf("pion reports an error", format, args) }

func (l pionLog) pass(what, msg string) { l.log.Debug(what, "message", msg) }

func (l pionLog) passf(what, format string, args []any) {
	if l.log.Enabled(context.Background(), slog.LevelDebug) {
		l.log.Debug(what, "message", fmt.Sprintf(format, args...))
	}
}
