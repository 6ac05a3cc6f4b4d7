package signaling

import (
	"slices"
	"strings"
	"testing"
)

func TestDecodeHave(t *testing.T) {
	got, err := DecodeHave([]byte(`{"type":"have","rtp":[4294967295,7],"later":1}`))
	if err != nil || !slices.Equal(got, []uint32{4294967295, 7}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{
		``, `null`, `[]`, `{"rtp":[1]}`, `{"type":"shown","rtp":[1]}`, `{"type":"have"}`, `{"type":"have","rtp":[]}`, `{"type":"have","rtp":[-1]}`,
		`{"type":"have","rtp":[1.5]}`, `{"type":"have","rtp":[4294967296]}`, `{"type":"have","rtp":7}`,
		`{"type":"have","rtp":[` + strings.Repeat("1,", maxHave) + `1]}`, `{"type":"have","rtp":[1]}` + strings.Repeat(" ", MaxMessageBytes),
	} {
		if got, err := DecodeHave([]byte(bad)); err == nil {
			t.Errorf("%.40s was taken for %v", bad, got)
		}
	}
}

func FuzzDecodeHave(f *testing.F) {
	f.Add([]byte(`{"type":"have","rtp":[1,2,3]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if got, err := DecodeHave(data); err == nil && (len(got) == 0 || len(got) > maxHave) {
			t.Errorf("%q gave %d pictures", data, len(got))
		}
	})
}
