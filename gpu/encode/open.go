package encode

// Open gives an encoder for one viewer. It fails when the size is out of
// range, when the preset is unknown, or, wrapping errors.ErrUnsupported, when
// this build has no encoder.
func Open(c Config) (Encoder, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	return openX264(c)
}

// Capabilities says what this build encodes with, for the doctor command and
// the start-up log.
type Capabilities struct {
	// Encoder names the encoder and where it comes from; "" when there is none.
	Encoder string
	// Assembly lists the vector instructions it uses; "" when it uses none.
	Assembly string
	// Converter names the BGRA to YUV converter.
	Converter string
	// Warning is a sentence for the user, saying what is slow or missing and
	// what to do; "" when all is well.
	Warning string
}

// Probe looks at the encoder and converter of this build. It is cheap and
// safe for concurrent use.
func Probe() Capabilities { return probe() }

// Describe gives Probe in one line.
func Describe() string {
	c := Probe()
	if c.Encoder == "" {
		return "no encoder"
	}
	assembly := c.Assembly
	if assembly == "" {
		assembly = "no assembly"
	}
	return c.Encoder + " (" + assembly + "), colors by " + c.Converter
}
