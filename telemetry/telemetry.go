// Package telemetry holds the figures of a stream: what the overlay shows and
// what a log records. It measures nothing itself; the parts of a stream count
// into a Meter, and a Meter gives a Snapshot.
package telemetry

// Snapshot is the state of one stream at one moment, as the host sees it. Rates
// and means are over about the last second, counts since the start.
type Snapshot struct {
	Route         string  `json:"route"`         // in words; empty while unknown
	RouteUnknown  string  `json:"routeUnknown"`  // what of it could not be known, and why
	Width         int     `json:"width"`         // of the picture that is sent, pixels
	Height        int     `json:"height"`        //
	FPS           float64 `json:"fps"`           // pictures encoded a second
	Encoded       uint64  `json:"encoded"`       // pictures, all kinds
	Refined       uint64  `json:"refined"`       // of them encoded again to sharpen a still picture
	Redone        uint64  `json:"redone"`        // beside them: came out far over their budget, and a coarser one was sent
	KeyFrames     uint64  `json:"keyFrames"`     // of them IDR pictures
	Repaired      uint64  `json:"repaired"`      // of them coded against an older picture, because the viewer lacks those in between
	Packets       uint64  `json:"packets"`       // media packets sent, resends and padding included
	Resends       uint64  `json:"resends"`       // of them sent again for a viewer that may miss them
	Padding       uint64  `json:"padding"`       // of them padding, repeated packets that fill a probe train included
	Kbps          float64 `json:"kbps"`          // sent, kbit/s of UDP payload
	TargetKbps    float64 `json:"targetKbps"`    // what the encoder may use
	AverageKbps   float64 `json:"averageKbps"`   // of the pictures since the start: what max-kbps bounds
	BudgetKbps    float64 `json:"budgetKbps"`    // what the newest picture was planned with
	BudgetReason  string  `json:"budgetReason"`  // what set that: the target, or the bound on the average
	QP            int     `json:"qp"`            // of the newest picture
	MeanQP        float64 `json:"meanQp"`        // mean of the pictures
	PSNR          float64 `json:"psnr"`          // dB of luma as viewers decode it, mean of the pictures; 0: not measured
	BudgetBytes   int     `json:"budgetBytes"`   // what the newest picture was allowed to take
	SizePercent   int     `json:"sizePercent"`   // of the source's sides that the sent picture has
	SizeReason    string  `json:"sizeReason"`    // why that changed last; empty before the first time
	RTTMs         float64 `json:"rttMs"`         // 0 while unknown
	LossPercent   float64 `json:"lossPercent"`   // as the receiver reported last
	CaptureWaitMs float64 `json:"captureWaitMs"` // capture until the encoder took the picture
	ConvertMs     float64 `json:"convertMs"`     // mean a picture
	EncodeMs      float64 `json:"encodeMs"`      // mean a picture
	QueueMs       float64 `json:"queueMs"`       // what waits in the pacer now
	State         string  `json:"state"`         // of the congestion controller, a word
	Reason        string  `json:"reason"`        // why the rate is what it is

	Second *HostSecond `json:"second,omitempty"` // the newest record of the stream's log
}
