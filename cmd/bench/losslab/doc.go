// Package losslab streams a desktop over links that lose packets, and looks at
// every picture that the viewer decodes.
//
// The sender is the host's own: its session, encoder, rate control, congestion
// controller, pacer and repair decision, as they are shipped. The link is
// cc/sim's. The viewer is a model of libwebrtc's receiver: its NACKs, its packet
// and frame buffers with and without dependency descriptors, its requests for key
// frames and its transport feedback, and of what our page says. All of it lives by
// the clock, so that inside testing/synctest a stream takes no longer than its
// encoding, and what else the machine does changes nothing.
//
// What a viewer decoded is decoded again by ffmpeg, and so is all that the encoder
// made. A picture of which the two differ in one bit is a wrong one.
package losslab
