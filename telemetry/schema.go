package telemetry

//go:generate go run ../cmd/logschema -root ..

// SchemaVersion counts the changes of this file that alter what a field means.
// New fields do not raise it: a reader ignores what it does not know.
const SchemaVersion = 1

// Side says which end of a stream wrote a log.
type Side string

// Sides.
const (
	HostSide   Side = "host"
	ViewerSide Side = "viewer"
)

// Kind says what a line of a log is. It is the field "record" of each line.
type Kind string

// Kinds of record. A log begins with a header; the others follow in order of
// time. A file that continues another begins with the same header again.
const (
	KindHeader Kind = "header"
	KindSecond Kind = "second"
	KindEvent  Kind = "event"
	KindFrame  Kind = "frame"
)

// Header says whose log it is and what the two ends could do.
type Header struct {
	Record       Kind              `json:"record"`                 // "header"
	Schema       int               `json:"schema"`                 // SchemaVersion of the writer
	Stream       string            `json:"stream"`                 // id that both ends' logs share: 26 letters and digits
	Side         Side              `json:"side"`                   // "host" or "viewer"
	Part         int               `json:"part,omitempty"`         // 0 for the first file of a log, then 1, 2, ...
	First        int               `json:"first,omitempty"`        // lines in the parts before this one, their later headers not counted
	StartMs      float64           `json:"startMs"`                // the writer's wall clock when its time 0 was, Unix ms
	Version      string            `json:"version"`                // of nearglass
	Device       string            `json:"device,omitempty"`       // id of the paired device, as nearglass pair list has it
	Source       string            `json:"source,omitempty"`       // kind of source: desktop, monitor, window, demo, pattern
	FPS          int               `json:"fps,omitempty"`          // most pictures a second that the host makes
	Cores        int               `json:"cores,omitempty"`        // processors that the writer may use
	Settings     map[string]string `json:"settings,omitempty"`     // host: how it was set, without secrets
	Capabilities map[string]string `json:"capabilities,omitempty"` // what the writer's end is and can do, in its own words
}

// Spread describes a figure of which there were several in the second.
type Spread struct {
	N    int     `json:"n"`    // how many there were
	Mean float64 `json:"mean"` // their mean
	P95  float64 `json:"p95"`  // 95 of 100 are at most this
	Max  float64 `json:"max"`  // the largest
}

// Delay is the way of a picture in stages, ms. Each stage is measured from two
// timestamps of its own, and where one ends the next begins. The host fills
// what happens on its side for every picture that left; the viewer fills what
// happens on its side for every picture that it showed.
type Delay struct {
	Wait    *Spread `json:"wait,omitempty"`    // capture until the encoder took the picture
	Convert *Spread `json:"convert,omitempty"` // to the size and the colour format that the encoder takes, opening it included
	Encode  *Spread `json:"encode,omitempty"`  // in the encoder
	Handoff *Spread `json:"handoff,omitempty"` // end of encoding until the pacer had the picture: it waits while too much is queued
	Queue   *Spread `json:"queue,omitempty"`   // in the pacer, until its last packet was handed to the socket
	Network *Spread `json:"network,omitempty"` // last packet sent until last packet received; needs both clocks, see Clock
	Buffer  *Spread `json:"buffer,omitempty"`  // last packet received until the decoder took the picture
	Decode  *Spread `json:"decode,omitempty"`  // in the decoder
	Present *Spread `json:"present,omitempty"` // decoded until the browser put it on the screen
	Arrive  *Spread `json:"arrive,omitempty"`  // capture until its last packet was received, from these two timestamps alone
	Total   *Spread `json:"total,omitempty"`   // capture until it was on the screen, from these two timestamps alone
}

// HostSecond is what the host counted and measured in about one second.
type HostSecond struct {
	Record      Kind       `json:"record"`               // "second"
	T           float64    `json:"t"`                    // end of the second, ms since the host's time 0, by a clock that never steps
	SpanMs      float64    `json:"spanMs"`               // how long the second was
	WallMs      float64    `json:"wallMs"`               // wall clock at t, Unix ms; it may step
	Hidden      bool       `json:"hidden"`               // the viewer is out of sight and nothing is encoded
	Paused      bool       `json:"paused"`               // the source delivers no pictures
	Width       int        `json:"width"`                // of the picture that is sent
	Height      int        `json:"height"`               // of the picture that is sent
	SizePercent int        `json:"sizePercent"`          // of the source's sides that the sent picture has: the step of the resolution ladder
	SizeReason  string     `json:"sizeReason,omitempty"` // why that changed last
	QP          *Spread    `json:"qp,omitempty"`         // of the pictures encoded
	Budget      *Spread    `json:"budget,omitempty"`     // bytes that each of them was allowed to take
	Delay       Delay      `json:"delay"`                // by stage, of the pictures that left
	Shown       Delay      `json:"shown"`                // by stage, of the pictures that the viewer reported as shown
	Frames      HostFrames `json:"frames"`               // pictures by what became of them
	Rate        Rate       `json:"rate"`                 // what may be sent and what was
	Packets     Packets    `json:"packets"`              // packets by what became of them
	Keys        Counts     `json:"keys,omitempty"`       // key frames encoded, by why: see KeyStart and its siblings
	RTT         *Spread    `json:"rtt,omitempty"`        // round trip, ms, from the receiver's reports
	OtherRTTMs  *float64   `json:"otherRttMs,omitempty"` // least round trip of another pair of addresses that works and is not in use, as ICE at the host measured it last; absent while none is known
	Capture     Capture    `json:"capture"`              // the source
	CPU         CPU        `json:"cpu"`                  // processors
	LoopLate    float64    `json:"loopLate"`             // longest that the sending loop woke after it was due, ms
	Audio       *HostAudio `json:"audio,omitempty"`      // sound, while there is some
}

// Counts counts by reason.
type Counts map[string]int

// Reasons for a key frame.
const (
	KeyStart   = "start"   // the first picture of a stream or of a new size
	KeyViewer  = "viewer"  // the viewer asked: it cannot decode on
	KeyLoss    = "loss"    // too much was lost to be sent again
	KeyDropped = "dropped" // the host itself dropped a picture that was needed
	KeyResume  = "resume"  // the viewer is back in sight, or was reconnected
)

// Reasons for which a picture does not reach the viewer.
const (
	DropMerged = "merged" // a newer picture came before the encoder was free
	DropStale  = "stale"  // it waited in the pacer for too long
	DropLarge  = "large"  // it came out far over its budget: a coarser one goes in its place
	DropHidden = "hidden" // the viewer is out of sight
)

// HostFrames counts pictures by fate.
type HostFrames struct {
	Captured  int    `json:"captured"`           // the source gave them
	Unchanged int    `json:"unchanged"`          // nothing visible had changed: not encoded
	Encoded   int    `json:"encoded"`            // all that were encoded, key frames and re-encoded ones included
	Reencoded int    `json:"reencoded"`          // of them the picture before once more: sharper, or as a key frame
	Repaired  int    `json:"repaired,omitempty"` // of them coded against an older picture, because the viewer lacks those in between
	Sent      int    `json:"sent"`               // their last packet left
	Dropped   Counts `json:"dropped,omitempty"`  // by reason: see DropMerged and its siblings
}

// Rate is the host's congestion control: what it believes of the path and what
// it allowed, in kbit/s of UDP payload.
type Rate struct {
	SentKbps     float64 `json:"sentKbps"`               // all that left, resends and padding included
	VideoKbps    float64 `json:"videoKbps"`              // of it pictures, sent for the first time
	TargetKbps   float64 `json:"targetKbps"`             // what the encoder may use, at the end of the second
	LeastKbps    float64 `json:"leastKbps"`              // least that the encoder was allowed within the second
	PaceKbps     float64 `json:"paceKbps"`               // how fast the pacer may send
	BudgetKbps   float64 `json:"budgetKbps,omitempty"`   // what the newest picture was planned with: the target or, with max-kbps, what that leaves
	BudgetReason string  `json:"budgetReason,omitempty"` // which of them
	AverageKbps  float64 `json:"averageKbps,omitempty"`  // pictures encoded since the start: what max-kbps bounds
	PathKbps     float64 `json:"pathKbps"`               // what the narrowest link is believed to carry; 0 while unknown
	Fixed        bool    `json:"fixed,omitempty"`        // the rate is set by hand and follows nothing
	State        string  `json:"state"`                  // the controller's word for what it does
	Reason       string  `json:"reason"`                 // why, in words
	PathQueue    *Spread `json:"pathQueue,omitempty"`    // standing in front of the narrowest link, ms, at each report
	Silence      float64 `json:"silence"`                // longest time without a report of the receiver while packets were out, ms
	Probes       int     `json:"probes"`                 // probe trains begun
	ProbeKbps    float64 `json:"probeKbps,omitempty"`    // rate of the fastest of them
}

// Packets counts what the host sent by fate. What was lost is counted in the
// second in which the receiver reported it.
type Packets struct {
	Sent      int `json:"sent"`                // all
	Resent    int `json:"resent"`              // of them sent again (RTX): asked for, reported lost, or a second time on a lossy path
	Padding   int `json:"padding"`             // of them padding and the fill of probe trains
	Acked     int `json:"acked"`               // reported as arrived
	Lost      int `json:"lost"`                // reported as missing
	Nacks     int `json:"nacks"`               // sequence numbers that the receiver asked for
	Unserved  int `json:"unserved"`            // of them not sent again: too old, or beyond the budget
	Large     int `json:"large,omitempty"`     // of acked and lost: packets of at least LargePacketBytes
	LargeLost int `json:"largeLost,omitempty"` // of lost: such packets
	MTU       int `json:"mtu,omitempty"`       // largest RTP payload that the host makes on this path, bytes
	Interface int `json:"interface,omitempty"` // what its interface would take of it, while the path was found to carry less
	KeyAsked  int `json:"keyAsked"`            // requests of the receiver for a key frame (PLI, FIR)
}

// LargePacketBytes is the UDP payload from which Packets counts a packet as
// large: a path whose tunnel takes less than it says loses these alone.
const LargePacketBytes = 1000

// Capture is the source as the host sees it.
type Capture struct {
	Gap     float64 `json:"gap"`               // longest time between two pictures of the source, ms; up to now when none came since
	Stalled float64 `json:"stalled"`           // longest that one request to the display server has gone unanswered, ms
	Grab    *Spread `json:"grab,omitempty"`    // how long it took to fetch one picture, ms
	Changed float64 `json:"changed,omitempty"` // share of the picture that changed, 0 to 1, mean of the pictures
	Error   string  `json:"error,omitempty"`   // why there are no pictures, in words
}

// CPU is how busy the writer's machine is.
type CPU struct {
	Process   float64 `json:"process"`             // of nearglass, percent of one core
	Host      float64 `json:"host"`                // of the whole machine, percent of all its cores
	Wait      float64 `json:"wait"`                // time in which threads of nearglass could have run and had no core, percent of one core
	Throttled float64 `json:"throttled,omitempty"` // time in which the system withheld the processor (quota), percent
	Steal     float64 `json:"steal,omitempty"`     // taken by other machines on the same hardware, percent of all cores
	Pressure  float64 `json:"pressure,omitempty"`  // time in which some task of the machine waited for a core, percent (Linux PSI)
	Celsius   float64 `json:"celsius,omitempty"`   // hottest sensor of the processor; 0 unknown
}

// HostAudio is the host's side of the sound.
type HostAudio struct {
	Kbps    float64 `json:"kbps"`    // sent
	Packets int     `json:"packets"` // sent
	Dropped int     `json:"dropped"` // packets that found no room
}

// ViewerSecond is what the viewer counted and measured in about one second; in
// a page that the browser slows down it may be much longer.
type ViewerSecond struct {
	Record   Kind         `json:"record"`           // "second"
	T        float64      `json:"t"`                // end of the second, ms since the viewer's time 0, by a clock that never steps
	SpanMs   float64      `json:"spanMs"`           // how long the second was
	WallMs   float64      `json:"wallMs"`           // wall clock at t, Unix ms; it may step
	Clock    *Clock       `json:"clock,omitempty"`  // how the viewer's time becomes the host's
	HiddenMs float64      `json:"hiddenMs"`         // how long the page was out of sight
	Focused  bool         `json:"focused"`          // the page has the keyboard
	State    string       `json:"state"`            // of the viewer: connecting, live, paused, reconnecting, ended
	Width    int          `json:"width"`            // of the decoded picture
	Height   int          `json:"height"`           // of the decoded picture
	Delay    Delay        `json:"delay"`            // by stage, of the pictures shown
	Frames   ViewerFrames `json:"frames"`           // pictures by what became of them
	Net      ViewerNet    `json:"net"`              // packets
	QP       float64      `json:"qp,omitempty"`     // mean of the pictures decoded
	Input    *Spread      `json:"input,omitempty"`  // input until the picture that shows its effect, ms
	Audio    *ViewerAudio `json:"audio,omitempty"`  // sound, while there is some
	Device   *Device      `json:"device,omitempty"` // hints of the browser about its machine
	Stall    float64      `json:"stall"`            // longest that the page's own timer came late, ms
}

// Clock is the viewer's estimate of where its time lies in the host's:
// host's T = viewer's T + OffsetMs, wrong by at most BoundMs.
type Clock struct {
	OffsetMs float64 `json:"offsetMs"`         // to add to the viewer's time
	BoundMs  float64 `json:"boundMs"`          // most that it can be wrong, whatever the path's asymmetry
	RTTMs    float64 `json:"rttMs"`            // of the newest ping on the control channel
	Pings    int     `json:"pings"`            // answered in this second
	DownMs   float64 `json:"downMs,omitempty"` // how long the newest answer was on its way from the host; wrong by at most BoundMs
	UpMs     float64 `json:"upMs,omitempty"`   // how long its ping was on its way to the host; wrong likewise
}

// ViewerFrames counts pictures by fate.
type ViewerFrames struct {
	Received    int     `json:"received"`              // complete pictures
	Decoded     int     `json:"decoded"`               // by the decoder
	Dropped     int     `json:"dropped"`               // received and not shown: too late, or the decoder gave up
	Shown       int     `json:"shown"`                 // put on the screen
	Keys        int     `json:"keys"`                  // key frames decoded
	Freezes     int     `json:"freezes"`               // times the picture stood still for longer than motion explains
	FreezeMs    float64 `json:"freezeMs"`              // how long in all
	Gap         float64 `json:"gap"`                   // longest time between two pictures shown, ms; up to now when none came since
	Decoder     string  `json:"decoder,omitempty"`     // the browser's name for its decoder
	Efficient   *bool   `json:"efficient,omitempty"`   // the browser calls its decoder power-efficient: hardware, as a rule
	AssembledMs float64 `json:"assembledMs,omitempty"` // first packet to last packet of a picture, mean
}

// ViewerNet is the viewer's side of the path.
type ViewerNet struct {
	Kbps       float64  `json:"kbps"`                 // received, UDP payload
	Packets    int      `json:"packets"`              // received
	Lost       int      `json:"lost"`                 // never received, resends not counted
	Resends    int      `json:"resends"`              // received by RTX
	Discarded  int      `json:"discarded,omitempty"`  // received too late to be of use
	Nacks      int      `json:"nacks"`                // requests for a packet
	PLIs       int      `json:"plis"`                 // requests for a key frame, FIR included
	JitterMs   float64  `json:"jitterMs"`             // RFC 3550 interarrival jitter
	RTTMs      float64  `json:"rttMs,omitempty"`      // of the candidate pair's connectivity checks
	OtherRTTMs *float64 `json:"otherRttMs,omitempty"` // least of another pair that works and is not in use, as the browser measured it last
	BufferMs   float64  `json:"bufferMs"`             // in the jitter buffer, mean of the pictures
	TargetMs   float64  `json:"targetMs,omitempty"`   // what the jitter buffer aims at
	LocalType  string   `json:"localType,omitempty"`  // of the candidate: host, srflx, prflx, relay
	RemoteType string   `json:"remoteType,omitempty"` // of the candidate: host, srflx, prflx, relay
}

// ViewerAudio is the viewer's side of the sound.
type ViewerAudio struct {
	Packets   int     `json:"packets"`          // received
	Lost      int     `json:"lost"`             // never received
	BufferMs  float64 `json:"bufferMs"`         // in the jitter buffer, mean
	Concealed int     `json:"concealed"`        // samples made up for want of sound
	SkewMs    float64 `json:"skewMs,omitempty"` // how much later than the sound the picture is played; negative: earlier
}

// Device is what the browser tells of its machine. What it does not tell is
// absent.
type Device struct {
	Battery   *float64 `json:"battery,omitempty"`   // charge, 0 to 1
	Charging  *bool    `json:"charging,omitempty"`  // on mains
	Pressure  string   `json:"pressure,omitempty"`  // of the processor: nominal, fair, serious, critical
	Network   string   `json:"network,omitempty"`   // wifi, ethernet, cellular, ...
	Downlink  float64  `json:"downlink,omitempty"`  // Mbit/s, as the browser estimates it
	SaveData  bool     `json:"saveData,omitempty"`  // the person asked for little traffic
	RefreshHz float64  `json:"refreshHz,omitempty"` // of the screen
}

// Names of events. An event that has a duration is written when it begins.
const (
	EventStart      = "start"      // the stream was asked for
	EventConnected  = "connected"  // packets can flow, also after a disturbance
	EventDisconnect = "disconnect" // nothing comes from the other end at present
	EventPath       = "path"       // the packets take this road from now on: Path
	EventDevice     = "device"     // a screen, network or power supply of the writer changed: Reason says which
	EventPause      = "pause"      // the source delivers no pictures: Reason says why
	EventResume     = "resume"     // it does again
	EventHidden     = "hidden"     // the viewer is out of sight
	EventVisible    = "visible"    // it is back
	EventSize       = "size"       // pictures are this large from now on: Width, Height
	EventKey        = "key"        // a key frame was asked for: Who
	EventRestart    = "restart"    // ICE begins anew
	EventClockJump  = "clockjump"  // the writer's wall clock stepped by AmountMs
	EventClockStep  = "clockstep"  // the clocks of both ends moved apart by AmountMs: one of them was asleep
	EventAsleep     = "asleep"     // the writer's machine slept for AmountMs
	EventInput      = "input"      // a marked input took AmountMs to be seen
	EventError      = "error"      // something went wrong at the writer that did not end the stream: Reason says what
	EventEnd        = "end"        // the stream ended: Reason
)

// Event is something that happened.
type Event struct {
	Record   Kind    `json:"record"`             // "event"
	T        float64 `json:"t"`                  // ms since the writer's time 0
	WallMs   float64 `json:"wallMs"`             // wall clock, Unix ms
	Name     string  `json:"event"`              // its name: see EventStart and its siblings
	Reason   string  `json:"reason,omitempty"`   // in words
	Who      string  `json:"who,omitempty"`      // who caused it: host or viewer, or why, as with key frames
	AmountMs float64 `json:"amountMs,omitempty"` // how much, or how long
	Width    int     `json:"width,omitempty"`    // of the picture from now on
	Height   int     `json:"height,omitempty"`   // of the picture from now on
	Path     *Path   `json:"path,omitempty"`     // the road from now on
}

// Path is the road that the packets take.
type Path struct {
	Kind    string            `json:"kind"`              // a word for programs, such as tailscale-relayed
	Label   string            `json:"label"`             // in words, such as "Tailscale relayed, Frankfurt"
	Unknown string            `json:"unknown,omitempty"` // what could not be known, and why
	Details map[string]string `json:"details,omitempty"` // addresses, interface, region, MTU
}

// FrameTrace is one picture's way, written only when a trace was asked for. An
// end fills what it sees of it. Times are ms of the writer's clock.
type FrameTrace struct {
	Record    Kind    `json:"record"`              // "frame"
	T         float64 `json:"t"`                   // captured (host), received (viewer)
	RTP       uint32  `json:"rtp"`                 // names the picture: 90 kHz ticks from the host's time 0 to its capture, modulo 2^32
	Frame     uint64  `json:"frame,omitempty"`     // host: number of the picture
	Bytes     int     `json:"bytes,omitempty"`     // host: of the access unit
	Packets   int     `json:"packets,omitempty"`   // host: that carry it
	Budget    int     `json:"budget,omitempty"`    // host: bytes that it was allowed to take
	QP        int     `json:"qp,omitempty"`        // host
	PSNR      float64 `json:"psnr,omitempty"`      // host: dB of luma as viewers decode it, where it is measured
	Kind      string  `json:"kind,omitempty"`      // host: motion, refine, key
	TakenT    float64 `json:"takenT,omitempty"`    // host: the encoder took it
	EncodedT  float64 `json:"encodedT,omitempty"`  // host: it was encoded
	QueuedT   float64 `json:"queuedT,omitempty"`   // host: the pacer had it
	SentT     float64 `json:"sentT,omitempty"`     // host: its last packet was handed to the socket
	ReceivedT float64 `json:"receivedT,omitempty"` // viewer: its last packet came
	DecodedT  float64 `json:"decodedT,omitempty"`  // viewer: it was decoded
	ShownT    float64 `json:"shownT,omitempty"`    // viewer: it was put on the screen
}
