package doctor

// text says what a cause is, and what to do about it.
type text struct{ title, advice string }

// Title is what a cause is in words; empty for none.
func Title(f Fault) string { return texts[f].title }

var texts = map[Fault]text{
	SlowDecoder:      {"The viewer decodes too slowly", "Turn on hardware acceleration in the viewer's browser, or use another browser or device; a smaller window of the source, or --fps 30, asks less of it."},
	LossyLink:        {"The network loses packets", "Look for a bad cable, a weak radio link or a failing switch on the way; try a cable, 5 GHz WiFi or a place nearer to the access point."},
	CappedLink:       {"The network carries less than the picture needs", "Use a faster connection, or show less: a smaller window or screen, fewer pictures a second (--fps)."},
	Bufferbloat:      {"A buffer on the way is filled and delays everything", "Turn on smart queue management (SQM, fq_codel or cake) in the router, limit other uploads and downloads, and leave --bitrate unset."},
	CompetingTraffic: {"Other traffic uses the same link", "Find what else is sent over this link (backups, downloads, calls) and pause it, or give the stream priority in the router."},
	RelayedPath:      {"Packets make a detour by a relay", "Let the two ends reach each other directly: allow UDP in both firewalls, or forward a port; on Tailscale, `tailscale netcheck` says what stands in the way."},
	WrongPath:        {"A faster path was there and not in use", "Find out why packets leave by the slower way: a VPN that takes all traffic, an interface that is down, or a route with a lower metric."},
	MTUTrouble:       {"Large packets do not get through", "A tunnel on the way takes less than its interface says: set the MTU of that interface to what gets through (`ping -M do -s BYTES` finds it), by which nearglass makes its packets, and let ICMP \"packet too big\" through firewalls."},
	EncoderOverload:  {"The host's encoder is too slow for these pictures", "Show a smaller screen or window, lower --fps, or choose a faster --preset; `nearglass doctor` says whether the fast encoder is built in."},
	CPUStarved:       {"Other programs keep the host's processor busy", "Look in the host's task list for what uses it, end or limit that, or give nearglass more processor (its container's quota, its priority)."},
	StalledCapture:   {"The host's display server stopped giving pictures", "Look at the host's display: a driver that resets, a server that hangs or was stopped, a screen that was locked or switched off."},
	SlowSource:       {"The program on the screen draws slowly", "The stream shows what the program draws: look at the program itself and the graphics of the host, which may draw in software."},
	ViewerBackground: {"The viewer's page was out of sight", "Bring the page to the front. For watching beside other work, give it a window of its own that is not covered."},
	ViewerThrottled:  {"The viewer's device was slowed down", "Close other pages and programs there, connect it to mains, let it cool, and switch off its energy saver."},
	AudioHoldsVideo:  {"Pictures wait for the sound", "Mute the sound in the viewer to see the picture at once; Bluetooth speakers and busy audio devices add the most."},
	KeyFrameStorm:    {"The viewer asks for key frames again and again", "Its decoder cannot go on with what it gets: update the browser or its graphics driver, or turn off hardware decoding there."},
	ProbeStarvation:  {"The rate started too low after a quiet time", "Nothing is wrong with the network. This is nearglass's to mend: send this report with the bug."},
	ClockJump:        {"A clock was set while the stream ran", "Let the machine keep its time by NTP, and slew instead of step; pairing and certificates depend on it."},
	FlappingWiFi:     {"The radio link is away for moments, again and again", "The viewer's or host's WiFi searches for other networks or saves power: switch off background scans and WiFi power saving, or use a cable."},
	HostAsleep:       {"The host's machine slept", "Keep it awake while it is shared: switch off its sleep on idle and on closing the lid. A virtual machine that was paused and a process that was stopped look the same."},
}
