package main

import (
	"context"
	"image"
	"time"
)

// grainSize is the picture of bench link: small enough that two browsers and
// an encoder find room on two cores at 60 pictures a second.
var grainSize = image.Pt(480, 270)

const (
	// grainFPS is the rate at which both senders paint.
	grainFPS = 60
	// grainPictures is how many different pictures there are; then they begin
	// again. Encoders look back by a few.
	grainPictures = 32
	// grainCell is the side of the squares that have one kind of grain.
	grainCell = 30
)

// grainKinds are the kinds of noise: by how many levels of luma it strays to
// either side, and how coarse it is (1<<coarse pixels). They are chosen so that
// the size of a picture falls evenly with its quality, by about a sixth for each
// step of QP: x264's ultrafast preset takes 25 Mbit/s at QP 15, 12 at 24, 5.4 at
// 30, 1.9 at 36 and 0.8 at 42, libvpx keeps any rate from 1 to 20. So there is a
// picture for every rate measured, and none that is complete before the link is
// full. Grain of one kind would vanish within a few steps of QP, and no encoder
// could then keep a rate between two of them.
var grainKinds = []struct{ Strength, Coarse int }{
	{14, 0}, {14, 0}, {10, 0}, {10, 0}, {7, 0}, {7, 0}, {5, 0}, {14, 1}, {7, 1},
	{20, 0}, {20, 0}, {28, 0}, {28, 1}, {40, 1}, {20, 2}, {64, 2}, {64, 3},
}

// grain is content that fills any link: soft stripes that drift, and on them
// noise that is new in every picture, as of a camera in the dark. senderPage
// makes the very same pictures.
type grain struct {
	pictures [grainPictures][]byte // B, G, R, X
}

func newGrain() *grain {
	g := &grain{}
	for n := range g.pictures {
		pix := make([]byte, 0, 4*grainSize.X*grainSize.Y)
		for y := range grainSize.Y {
			for x := range grainSize.X {
				v := grainLuma(x, y, n)
				pix = append(pix, v, v, v, 0xff)
			}
		}
		g.pictures[n] = pix
	}
	return g
}

// draw copies picture n.
func (g *grain) draw(pix []byte, stride, n int) {
	from := g.pictures[n%grainPictures]
	for y := range grainSize.Y {
		copy(pix[y*stride:], from[y*4*grainSize.X:(y+1)*4*grainSize.X])
	}
}

// grainLuma is one pixel of picture n, all three colors.
func grainLuma(x, y, n int) byte {
	cell := mix(uint32(y/grainCell*64 + x/grainCell + 12345))
	k := grainKinds[cell%uint32(len(grainKinds))]
	noise := int(mix(uint32((n*grainSize.Y+y>>k.Coarse)*grainSize.X+x>>k.Coarse))&255) - 128
	v := 96 + stripe(8*(x+2*n)+4*y)/4 + noise*k.Strength/128
	return byte(min(max(v, 0), 255))
}

// stripe is a triangle wave from 0 to 255.
func stripe(v int) int {
	if v &= 511; v > 255 {
		return 511 - v
	}
	return v
}

// mix scatters the bits of a number; it is lowbias32 of Chris Wellons' hash
// prospector.
func mix(x uint32) uint32 {
	x ^= x >> 16
	x *= 0x7feb352d
	x ^= x >> 15
	x *= 0x846ca68b
	return x ^ x>>16
}

// grainSum adds up the luma of picture n, to compare with the page's.
func grainSum(n int) (sum int) {
	for y := range grainSize.Y {
		for x := range grainSize.X {
			sum += int(grainLuma(x, y, n))
		}
	}
	return sum
}

// paintGrain paints until the context ends.
func paintGrain(ctx context.Context, p *painter) {
	due := time.Now()
	for n := 0; ctx.Err() == nil; n++ {
		p.prepare(n)
		p.show()
		due = due.Add(time.Second / grainFPS)
		time.Sleep(time.Until(due))
	}
}
