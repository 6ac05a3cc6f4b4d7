package cc

import (
	"time"

	"nearglass/cc/rate"
)

type lossModel struct{}

func (l *lossModel) arrive(*packet) {}
func (l *lossModel) miss(*packet)   {}
func (l *lossModel) limit(now time.Time, c *Controller) (rate.Rate, bool) {
	return 0, false
}
