package encodelab

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// WriteTrace writes a line for each unit into a file of the folder, which is
// named after workload, link and peer.
func (r *Result) WriteTrace(dir, workload string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	name := strings.NewReplacer(" ", "-", "/", "", ",", "").Replace(workload + " " + r.Link.Name + " " + r.Peer)
	f, err := os.Create(filepath.Join(dir, name+".csv"))
	if err != nil {
		return err
	}
	defer f.Close()
	out := bufio.NewWriter(f)
	quality := map[int]float64{}
	for _, q := range r.Quality {
		quality[q.Unit] = q.PSNR
	}
	fmt.Fprintln(out, "picture,kind,qp,bytes,allowed,captured_ms,arrived_ms,latency_ms,encode_ms,db")
	for i, s := range r.Sent {
		fmt.Fprintf(out, "%d,%s,%d,%d,%d,%.1f,%.1f,%.1f,%.2f,%.2f\n", s.Picture, s.Kind, s.QP, s.SizeBytes, s.AllowedBytes,
			ms(s.Captured), ms(s.Arrived), ms(s.Arrived-s.Captured), ms(s.Encode), quality[i])
	}
	return out.Flush()
}
