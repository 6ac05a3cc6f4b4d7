package main

import (
	"nearglass/cc/rate"
	"nearglass/server"
	"nearglass/server/access"
)

// settings are the host's settings as flags. Defaults are those of
// server.Config, so that each stands in one place.
type settings struct {
	Name      string   `help:"What viewers call this host (default: the machine's name)." env:"NEARGLASS_NAME"`
	Listen    string   `help:"Address of the page (TCP) and the streams (UDP) (default: :7433, every interface)." placeholder:"[HOST]:PORT" env:"NEARGLASS_LISTEN"`
	TLSCert   string   `name:"tls-cert" help:"Certificate for HTTPS, PEM. Needs --tls-key." placeholder:"FILE" env:"NEARGLASS_TLS_CERT"`
	TLSKey    string   `name:"tls-key" help:"Private key of the certificate, PEM." placeholder:"FILE" env:"NEARGLASS_TLS_KEY"`
	AllowHost []string `help:"Another name by which browsers may ask for this host." placeholder:"NAME" env:"NEARGLASS_ALLOW_HOST"`
	Display   string   `help:"X display (default: $DISPLAY)." placeholder:":N" env:"NEARGLASS_DISPLAY"`
	Source    string   `help:"What a viewer sees first; nearglass sources lists the ids." placeholder:"ID" env:"NEARGLASS_SOURCE"`
	Bitrate   bitrate  `help:"Fix what one viewer's video uses; 0 follows what the path carries (default: 0)." placeholder:"RATE" env:"NEARGLASS_BITRATE"`
	MaxRate   bitrate  `name:"max-bitrate" help:"Most that a video which follows its path may use (default: 50M)." placeholder:"RATE" env:"NEARGLASS_MAX_BITRATE"`
	MaxKbps   int      `name:"max-kbps" help:"Most kbit/s of a video on the average of its whole stream; short times may exceed it (default: no bound)." placeholder:"N" env:"NEARGLASS_MAX_KBPS"`
	Control   string   `name:"rate-control" help:"qp: each picture gets the QP that fits. cbr, crf: the encoder holds the bitrate, or a quality, by itself (default: qp)." env:"NEARGLASS_RATE_CONTROL"`
	RedoEvery int      `name:"redo-every" help:"Encode one picture in N twice and send a placeholder before it, to try a viewer's decoder." placeholder:"N" env:"NEARGLASS_REDO_EVERY"`
	QP        int      `name:"qp" help:"Sharpest QP of pictures in motion, 1 to 40; still ones get 3 sharper (default: 15)." placeholder:"N" env:"NEARGLASS_QP"`
	CRF       float64  `name:"crf" help:"The same as an x264 CRF, read as the QP it stands for." placeholder:"N" env:"NEARGLASS_CRF"`
	FullSize  bool     `help:"Send no smaller pictures when a path carries even the coarsest no more." env:"NEARGLASS_FULL_SIZE"`
	PSNR      bool     `name:"psnr" help:"Measure each picture's PSNR as viewers decode it, for the stats and traces." env:"NEARGLASS_PSNR"`
	FPS       int      `name:"fps" help:"Most pictures a second, 1 to 240 (default: 60)." placeholder:"N" env:"NEARGLASS_FPS"`
	Preset    string   `help:"x264 preset, ultrafast to medium (default: the fastest)." env:"NEARGLASS_PRESET"`
	Profile   string   `help:"H.264 profile: auto, baseline or high (default: auto)." env:"NEARGLASS_PROFILE"`
	Rights    string   `help:"What the code printed at the start grants: control or view (default: control)." env:"NEARGLASS_RIGHTS"`
	LogFrames bool     `name:"log-frames" help:"Have the stream logs hold the way of every picture." env:"NEARGLASS_LOG_FRAMES"`
	Repair    string   `hidden:"" help:"Ways to repair losses, for measuring: auto, rtx (resends and key frames), idr (a key frame for each loss) or reference (repairs by reference alone) (default: auto)." env:"NEARGLASS_REPAIR"`
	LogLevel  string   `help:"debug, info, warn or error." default:"info" enum:"debug,info,warn,error" env:"NEARGLASS_LOG_LEVEL"`
	LogFormat string   `help:"text or json." default:"text" enum:"text,json" env:"NEARGLASS_LOG_FORMAT"`
}

// config is the server's Config as the flags say it, not filled in.
func (s settings) config(e *env) server.Config {
	return server.Config{
		Name: s.Name, Version: build().Version, Listen: s.Listen, TLSCert: s.TLSCert, TLSKey: s.TLSKey,
		AllowHosts: s.AllowHost, StateDir: e.state, Display: s.Display, Source: s.Source,
		Bitrate: rate.Rate(s.Bitrate), MaxBitrate: rate.Rate(s.MaxRate),
		MaxAverage: rate.Rate(s.MaxKbps) * rate.Kbps, RateControl: s.Control, RedoEvery: s.RedoEvery,
		QP: s.QP, CRF: s.CRF, FullSize: s.FullSize, PSNR: s.PSNR, FPS: s.FPS, Preset: s.Preset, Profile: s.Profile,
		Rights: access.Rights(s.Rights), LogFrames: s.LogFrames, Repair: s.Repair,
	}
}

// bitrate is a rate.Rate as people write it: 8M, 640k.
type bitrate rate.Rate

// UnmarshalText reads a rate. Nothing at all is zero, so that an empty variable
// of the environment takes a setting of the file back.
func (b *bitrate) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*b = 0
		return nil
	}
	r, err := rate.Parse(string(text))
	*b = bitrate(r)
	return err
}

// stateDir is the state folder of commands that need no other setting.
func (e *env) stateDir() (string, error) {
	if e.state != "" {
		return e.state, nil
	}
	return server.DefaultStateDir()
}
