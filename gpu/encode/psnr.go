package encode

import "math"

// mostPSNR is the PSNR of pictures that are equal, in dB.
const mostPSNR = 100

// psnr compares the luma that was made with the source, in dB.
func (p *parts) psnr(made *planes) float64 {
	sum := 0
	for i := range p.blocks {
		source, r := p.source(i), p.area(i)
		for y := r.Min.Y; y < r.Max.Y; y++ {
			a := source.luma[y*source.lumaStride:][r.Min.X:r.Max.X]
			b := made.luma[y*made.lumaStride:][r.Min.X:r.Max.X]
			for x := range a {
				d := int(a[x]) - int(b[x])
				sum += d * d
			}
		}
	}
	if sum == 0 {
		return mostPSNR
	}
	mean := float64(sum) / float64(p.picture.size.X*p.picture.size.Y)
	return min(10*math.Log10(255*255/mean), mostPSNR)
}
