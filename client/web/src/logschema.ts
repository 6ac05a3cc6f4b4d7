// The records of the stream log, made from telemetry/schema.go by `make generate`.

/** SchemaVersion counts the changes of this file that alter what a field means. New fields do not raise it: a reader ignores what it does not know. */
export const SchemaVersion = 1;
/** the first picture of a stream or of a new size */
export const KeyStart = 'start';
/** the viewer asked: it cannot decode on */
export const KeyViewer = 'viewer';
/** too much was lost to be sent again */
export const KeyLoss = 'loss';
/** the host itself dropped a picture that was needed */
export const KeyDropped = 'dropped';
/** the viewer is back in sight, or was reconnected */
export const KeyResume = 'resume';
/** a newer picture came before the encoder was free */
export const DropMerged = 'merged';
/** it waited in the pacer for too long */
export const DropStale = 'stale';
/** it came out far over its budget: a coarser one goes in its place */
export const DropLarge = 'large';
/** the viewer is out of sight */
export const DropHidden = 'hidden';
/** LargePacketBytes is the UDP payload from which Packets counts a packet as large: a path whose tunnel takes less than it says loses these alone. */
export const LargePacketBytes = 1000;
/** the stream was asked for */
export const EventStart = 'start';
/** packets can flow, also after a disturbance */
export const EventConnected = 'connected';
/** nothing comes from the other end at present */
export const EventDisconnect = 'disconnect';
/** the packets take this road from now on: Path */
export const EventPath = 'path';
/** a screen, network or power supply of the writer changed: Reason says which */
export const EventDevice = 'device';
/** the source delivers no pictures: Reason says why */
export const EventPause = 'pause';
/** it does again */
export const EventResume = 'resume';
/** the viewer is out of sight */
export const EventHidden = 'hidden';
/** it is back */
export const EventVisible = 'visible';
/** pictures are this large from now on: Width, Height */
export const EventSize = 'size';
/** a key frame was asked for: Who */
export const EventKey = 'key';
/** ICE begins anew */
export const EventRestart = 'restart';
/** the writer's wall clock stepped by AmountMs */
export const EventClockJump = 'clockjump';
/** the clocks of both ends moved apart by AmountMs: one of them was asleep */
export const EventClockStep = 'clockstep';
/** the writer's machine slept for AmountMs */
export const EventAsleep = 'asleep';
/** a marked input took AmountMs to be seen */
export const EventInput = 'input';
/** something went wrong at the writer that did not end the stream: Reason says what */
export const EventError = 'error';
/** the stream ended: Reason */
export const EventEnd = 'end';

/** Side says which end of a stream wrote a log. */
export type Side = 'host' | 'viewer';

/** Kind says what a line of a log is. It is the field "record" of each line. */
export type Kind = 'header' | 'second' | 'event' | 'frame';

/** Header says whose log it is and what the two ends could do. */
export interface Header {
  record: Kind; // "header"
  schema: number; // SchemaVersion of the writer
  stream: string; // id that both ends' logs share: 26 letters and digits
  side: Side; // "host" or "viewer"
  part?: number; // 0 for the first file of a log, then 1, 2, ...
  first?: number; // lines in the parts before this one, their later headers not counted
  startMs: number; // the writer's wall clock when its time 0 was, Unix ms
  version: string; // of nearglass
  device?: string; // id of the paired device, as nearglass pair list has it
  source?: string; // kind of source: desktop, monitor, window, demo, pattern
  fps?: number; // most pictures a second that the host makes
  cores?: number; // processors that the writer may use
  settings?: Record<string, string>; // host: how it was set, without secrets
  capabilities?: Record<string, string>; // what the writer's end is and can do, in its own words
}

/** Spread describes a figure of which there were several in the second. */
export interface Spread {
  n: number; // how many there were
  mean: number; // their mean
  p95: number; // 95 of 100 are at most this
  max: number; // the largest
}

/** Delay is the way of a picture in stages, ms. Each stage is measured from two timestamps of its own, and where one ends the next begins. The host fills what happens on its side for every picture that left; the viewer fills what happens on its side for every picture that it showed. */
export interface Delay {
  wait?: Spread; // capture until the encoder took the picture
  convert?: Spread; // to the size and the colour format that the encoder takes, opening it included
  encode?: Spread; // in the encoder
  handoff?: Spread; // end of encoding until the pacer had the picture: it waits while too much is queued
  queue?: Spread; // in the pacer, until its last packet was handed to the socket
  network?: Spread; // last packet sent until last packet received; needs both clocks, see Clock
  buffer?: Spread; // last packet received until the decoder took the picture
  decode?: Spread; // in the decoder
  present?: Spread; // decoded until the browser put it on the screen
  arrive?: Spread; // capture until its last packet was received, from these two timestamps alone
  total?: Spread; // capture until it was on the screen, from these two timestamps alone
}

/** HostSecond is what the host counted and measured in about one second. */
export interface HostSecond {
  record: Kind; // "second"
  t: number; // end of the second, ms since the host's time 0, by a clock that never steps
  spanMs: number; // how long the second was
  wallMs: number; // wall clock at t, Unix ms; it may step
  hidden: boolean; // the viewer is out of sight and nothing is encoded
  paused: boolean; // the source delivers no pictures
  width: number; // of the picture that is sent
  height: number; // of the picture that is sent
  sizePercent: number; // of the source's sides that the sent picture has: the step of the resolution ladder
  sizeReason?: string; // why that changed last
  qp?: Spread; // of the pictures encoded
  budget?: Spread; // bytes that each of them was allowed to take
  delay: Delay; // by stage, of the pictures that left
  shown: Delay; // by stage, of the pictures that the viewer reported as shown
  frames: HostFrames; // pictures by what became of them
  rate: Rate; // what may be sent and what was
  packets: Packets; // packets by what became of them
  keys?: Record<string, number>; // key frames encoded, by why: see KeyStart and its siblings
  rtt?: Spread; // round trip, ms, from the receiver's reports
  otherRttMs?: number; // least round trip of another pair of addresses that works and is not in use, as ICE at the host measured it last; absent while none is known
  capture: Capture; // the source
  cpu: CPU; // processors
  loopLate: number; // longest that the sending loop woke after it was due, ms
  audio?: HostAudio; // sound, while there is some
}

/** HostFrames counts pictures by fate. */
export interface HostFrames {
  captured: number; // the source gave them
  unchanged: number; // nothing visible had changed: not encoded
  encoded: number; // all that were encoded, key frames and re-encoded ones included
  reencoded: number; // of them the picture before once more: sharper, or as a key frame
  repaired?: number; // of them coded against an older picture, because the viewer lacks those in between
  sent: number; // their last packet left
  dropped?: Record<string, number>; // by reason: see DropMerged and its siblings
}

/** Rate is the host's congestion control: what it believes of the path and what it allowed, in kbit/s of UDP payload. */
export interface Rate {
  sentKbps: number; // all that left, resends and padding included
  videoKbps: number; // of it pictures, sent for the first time
  targetKbps: number; // what the encoder may use, at the end of the second
  leastKbps: number; // least that the encoder was allowed within the second
  paceKbps: number; // how fast the pacer may send
  budgetKbps?: number; // what the newest picture was planned with: the target or, with max-kbps, what that leaves
  budgetReason?: string; // which of them
  averageKbps?: number; // pictures encoded since the start: what max-kbps bounds
  pathKbps: number; // what the narrowest link is believed to carry; 0 while unknown
  fixed?: boolean; // the rate is set by hand and follows nothing
  state: string; // the controller's word for what it does
  reason: string; // why, in words
  pathQueue?: Spread; // standing in front of the narrowest link, ms, at each report
  silence: number; // longest time without a report of the receiver while packets were out, ms
  probes: number; // probe trains begun
  probeKbps?: number; // rate of the fastest of them
}

/** Packets counts what the host sent by fate. What was lost is counted in the second in which the receiver reported it. */
export interface Packets {
  sent: number; // all
  resent: number; // of them sent again (RTX): asked for, reported lost, or a second time on a lossy path
  padding: number; // of them padding and the fill of probe trains
  acked: number; // reported as arrived
  lost: number; // reported as missing
  nacks: number; // sequence numbers that the receiver asked for
  unserved: number; // of them not sent again: too old, or beyond the budget
  large?: number; // of acked and lost: packets of at least LargePacketBytes
  largeLost?: number; // of lost: such packets
  mtu?: number; // largest RTP payload that the host makes on this path, bytes
  interface?: number; // what its interface would take of it, while the path was found to carry less
  keyAsked: number; // requests of the receiver for a key frame (PLI, FIR)
}

/** Capture is the source as the host sees it. */
export interface Capture {
  gap: number; // longest time between two pictures of the source, ms; up to now when none came since
  stalled: number; // longest that one request to the display server has gone unanswered, ms
  grab?: Spread; // how long it took to fetch one picture, ms
  changed?: number; // share of the picture that changed, 0 to 1, mean of the pictures
  error?: string; // why there are no pictures, in words
}

/** CPU is how busy the writer's machine is. */
export interface CPU {
  process: number; // of nearglass, percent of one core
  host: number; // of the whole machine, percent of all its cores
  wait: number; // time in which threads of nearglass could have run and had no core, percent of one core
  throttled?: number; // time in which the system withheld the processor (quota), percent
  steal?: number; // taken by other machines on the same hardware, percent of all cores
  pressure?: number; // time in which some task of the machine waited for a core, percent (Linux PSI)
  celsius?: number; // hottest sensor of the processor; 0 unknown
}

/** HostAudio is the host's side of the sound. */
export interface HostAudio {
  kbps: number; // sent
  packets: number; // sent
  dropped: number; // packets that found no room
}

/** ViewerSecond is what the viewer counted and measured in about one second; in a page that the browser slows down it may be much longer. */
export interface ViewerSecond {
  record: Kind; // "second"
  t: number; // end of the second, ms since the viewer's time 0, by a clock that never steps
  spanMs: number; // how long the second was
  wallMs: number; // wall clock at t, Unix ms; it may step
  clock?: Clock; // how the viewer's time becomes the host's
  hiddenMs: number; // how long the page was out of sight
  focused: boolean; // the page has the keyboard
  state: string; // of the viewer: connecting, live, paused, reconnecting, ended
  width: number; // of the decoded picture
  height: number; // of the decoded picture
  delay: Delay; // by stage, of the pictures shown
  frames: ViewerFrames; // pictures by what became of them
  net: ViewerNet; // packets
  qp?: number; // mean of the pictures decoded
  input?: Spread; // input until the picture that shows its effect, ms
  audio?: ViewerAudio; // sound, while there is some
  device?: Device; // hints of the browser about its machine
  stall: number; // longest that the page's own timer came late, ms
}

/** Clock is the viewer's estimate of where its time lies in the host's: host's T = viewer's T + OffsetMs, wrong by at most BoundMs. */
export interface Clock {
  offsetMs: number; // to add to the viewer's time
  boundMs: number; // most that it can be wrong, whatever the path's asymmetry
  rttMs: number; // of the newest ping on the control channel
  pings: number; // answered in this second
  downMs?: number; // how long the newest answer was on its way from the host; wrong by at most BoundMs
  upMs?: number; // how long its ping was on its way to the host; wrong likewise
}

/** ViewerFrames counts pictures by fate. */
export interface ViewerFrames {
  received: number; // complete pictures
  decoded: number; // by the decoder
  dropped: number; // received and not shown: too late, or the decoder gave up
  shown: number; // put on the screen
  keys: number; // key frames decoded
  freezes: number; // times the picture stood still for longer than motion explains
  freezeMs: number; // how long in all
  gap: number; // longest time between two pictures shown, ms; up to now when none came since
  decoder?: string; // the browser's name for its decoder
  efficient?: boolean; // the browser calls its decoder power-efficient: hardware, as a rule
  assembledMs?: number; // first packet to last packet of a picture, mean
}

/** ViewerNet is the viewer's side of the path. */
export interface ViewerNet {
  kbps: number; // received, UDP payload
  packets: number; // received
  lost: number; // never received, resends not counted
  resends: number; // received by RTX
  discarded?: number; // received too late to be of use
  nacks: number; // requests for a packet
  plis: number; // requests for a key frame, FIR included
  jitterMs: number; // RFC 3550 interarrival jitter
  rttMs?: number; // of the candidate pair's connectivity checks
  otherRttMs?: number; // least of another pair that works and is not in use, as the browser measured it last
  bufferMs: number; // in the jitter buffer, mean of the pictures
  targetMs?: number; // what the jitter buffer aims at
  localType?: string; // of the candidate: host, srflx, prflx, relay
  remoteType?: string; // of the candidate: host, srflx, prflx, relay
}

/** ViewerAudio is the viewer's side of the sound. */
export interface ViewerAudio {
  packets: number; // received
  lost: number; // never received
  bufferMs: number; // in the jitter buffer, mean
  concealed: number; // samples made up for want of sound
  skewMs?: number; // how much later than the sound the picture is played; negative: earlier
}

/** Device is what the browser tells of its machine. What it does not tell is absent. */
export interface Device {
  battery?: number; // charge, 0 to 1
  charging?: boolean; // on mains
  pressure?: string; // of the processor: nominal, fair, serious, critical
  network?: string; // wifi, ethernet, cellular, ...
  downlink?: number; // Mbit/s, as the browser estimates it
  saveData?: boolean; // the person asked for little traffic
  refreshHz?: number; // of the screen
}

/** Event is something that happened. */
export interface Event {
  record: Kind; // "event"
  t: number; // ms since the writer's time 0
  wallMs: number; // wall clock, Unix ms
  event: string; // its name: see EventStart and its siblings
  reason?: string; // in words
  who?: string; // who caused it: host or viewer, or why, as with key frames
  amountMs?: number; // how much, or how long
  width?: number; // of the picture from now on
  height?: number; // of the picture from now on
  path?: Path; // the road from now on
}

/** Path is the road that the packets take. */
export interface Path {
  kind: string; // a word for programs, such as tailscale-relayed
  label: string; // in words, such as "Tailscale relayed, Frankfurt"
  unknown?: string; // what could not be known, and why
  details?: Record<string, string>; // addresses, interface, region, MTU
}

/** FrameTrace is one picture's way, written only when a trace was asked for. An end fills what it sees of it. Times are ms of the writer's clock. */
export interface FrameTrace {
  record: Kind; // "frame"
  t: number; // captured (host), received (viewer)
  rtp: number; // names the picture: 90 kHz ticks from the host's time 0 to its capture, modulo 2^32
  frame?: number; // host: number of the picture
  bytes?: number; // host: of the access unit
  packets?: number; // host: that carry it
  budget?: number; // host: bytes that it was allowed to take
  qp?: number; // host
  psnr?: number; // host: dB of luma as viewers decode it, where it is measured
  kind?: string; // host: motion, refine, key
  takenT?: number; // host: the encoder took it
  encodedT?: number; // host: it was encoded
  queuedT?: number; // host: the pacer had it
  sentT?: number; // host: its last packet was handed to the socket
  receivedT?: number; // viewer: its last packet came
  decodedT?: number; // viewer: it was decoded
  shownT?: number; // viewer: it was put on the screen
}
