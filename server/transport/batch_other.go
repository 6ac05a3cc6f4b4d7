//go:build !linux

package transport

// sender sends a batch; this system has no call for several datagrams.
type sender struct{}

func (*sender) init() {}

func (*sender) send(s *socket, packets []waiting, bytes []byte) (lost int, err error) {
	return sendOneByOne(s, packets, bytes)
}

// bestSendMode says how this system takes several datagrams.
func bestSendMode() sendMode { return sendEach }
