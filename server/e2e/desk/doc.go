// Package desk sets up what an end-to-end test or a bench of nearglass looks
// at: an X server with programs on it, a host, and a real browser as viewer.
// It does not import package testing, so that the benches can use it, and
// nothing of nearglass itself: it sees the host from outside, as a person does.
//
// # A desktop
//
//	x, err := desk.StartXvfb(ctx, desk.Screen{Width: 1920, Height: 1080})
//	defer x.Close()
//	x.SetMonitors(desk.Monitor{Name: "LEFT", Rect: image.Rect(0, 0, 1280, 1080)}, ...)
//	wm, err := desk.StartOpenbox(ctx, x.Name())             // a window manager
//	term, err := desk.StartXterm(ctx, x.Name(), "-e", "cat") // a real program
//	w, err := desk.OpenWindow(x.Name(), image.Rect(100, 100, 300, 200), "patches")
//	w.Fill(image.Rect(0, 0, 50, 50), color.RGBA{255, 0, 0, 255})
//	shot, err := x.Grab()                                   // the framebuffer
//
// A [Window] also records each button, key and motion event that it receives,
// which tells where a click really landed. [X.Kill] and [X.Restart] take the
// server away and bring it back under the same name; [X.Resize] changes the
// screen through RandR, up to the size that it started with.
//
// # A host and its viewer
//
//	bin, err := desk.BuildHost(ctx, dir)                    // once, in TestMain
//	h, err := desk.StartHost(ctx, desk.HostOptions{Binary: bin, Display: x.Name()})
//	b, err := desk.StartChromium(ctx, desk.BrowserOptions{})
//	p, err := b.NewPage()                                   // cookies of its own
//	err = p.Viewport(desk.Viewport{Width: 1280, Height: 720})
//	err = p.Open(h.PairURL)
//	n, err := desk.Eval[int](p, "document.querySelectorAll('video').length")
//	got, err := p.VideoPicture("video")
//	db := desk.LumaPSNR(shot, got)
//
// [Page] drives mouse, keyboard and touch through the browser's own input
// path, so that the page gets trusted events. [StartFirefox] gives the other
// browser, for what can be seen by evaluating expressions in it.
//
// # Life of the programs
//
// Every program runs in a process group of its own and ends with Close or
// Stop, with the context that it was started under, or with the process that
// started it. A program's last output is part of the error when it fails. All
// calls take real time; pass a context with a limit.
package desk
