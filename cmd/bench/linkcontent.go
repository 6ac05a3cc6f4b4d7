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
	// grainCell is the side of the squares in which the grain is equally strong.
	grainCell = 40
	// grainStrongest and grainSteps are the strengths: 48, 24, 12, 6 and 3 levels
	// of luma to either side. With these, x264's ultrafast preset takes 26 Mbit/s
	// at QP 15, 12 at 26, 6.4 at 32, 2.5 at 38 and 0.1 at 44, and libvpx keeps any
	// rate from 1 to 20: there is a picture for every rate measured, and none that
	// is complete before the link is full.
	grainStrongest, grainSteps = 48, 5
)

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
	strength := grainStrongest >> (cell % grainSteps)
	noise := int(mix(uint32((n*grainSize.Y+y)*grainSize.X+x))&255) - 128
	v := 96 + stripe(8*(x+2*n)+4*y)/4 + noise*strength/128
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
