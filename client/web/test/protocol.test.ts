import assert from 'node:assert/strict';
import test from 'node:test';
import { Backoff } from '../src/backoff';
import { codeOf, deviceName, formatCode, sourceOf, watchHash } from '../src/device';
import { decode } from '../src/protocol';
import { fragment } from '../src/sdpfrag';
import { figures, noSample, sample } from '../src/stats';

test('messages of the host are read', () => {
  assert.deepEqual(decode('{"type":"source","id":"d","title":"T","kind":"display","width":9,"height":8,"rights":"control"}'),
    { type: 'source', id: 'd', title: 'T', kind: 'display', width: 9, height: 8, rights: 'control' });
  assert.deepEqual(decode('{"type":"state","state":"ended","reason":"gone"}'), { type: 'state', state: 'ended', reason: 'gone' });
  assert.deepEqual(decode('{"type":"pointer","x":1.5,"y":-2,"visible":false,"cursor":"7","n":3}'),
    { type: 'pointer', x: 1.5, y: -2, visible: false, cursor: '7', n: 3 });
  assert.deepEqual(decode('{"type":"cursor","id":7,"width":16,"height":16,"hotX":1,"png":"QUJD"}'),
    { type: 'cursor', id: '7', width: 16, height: 16, hotX: 1, hotY: 0, png: 'QUJD' });
  assert.deepEqual(decode('{"type":"path","kind":"tailscale-relayed","words":"Tailscale relayed, Frankfurt","unknown":"","changed":true}'),
    { type: 'path', words: 'Tailscale relayed, Frankfurt', unknown: '', changed: true });
  assert.deepEqual(decode('{"type":"bye"}'), { type: 'bye', reason: '' });
});

const refused = [
  '', 'x', '[]', 'null', '1', '{}', '{"type":"unknown"}',
  '{"type":"source","width":0,"height":8}',
  '{"type":"state","state":"odd"}',
  '{"type":"pointer","x":"1","y":2}',
  '{"type":"pointer","x":1}',
  '{"type":"path","kind":"lan"}',
  '{"type":"cursor","id":"1","width":16,"height":16,"png":"\\"); } body { x: url("}',
  '{"type":"cursor","id":"1","width":99999,"height":16,"png":"QUJD"}',
  '{"type":"cursor","id":"1","width":16,"height":16,"png":""}',
];
for (const text of refused) test(`refused: ${text}`, () => assert.equal(decode(text), null));

test('an unknown right is the lesser one', () => {
  const m = decode('{"type":"source","width":1,"height":1,"rights":"all"}');
  assert.equal(m?.type === 'source' && m.rights, 'view');
});

test('pauses double from half a second to five', () => {
  const b = new Backoff();
  assert.deepEqual([1, 2, 3, 4, 5, 6].map(() => b.next()), [500, 1000, 2000, 4000, 5000, 5000]);
  b.reset();
  assert.equal(b.next(), 500);
});

test('codes are shown as 123-456', () => {
  for (const [typed, want] of [['1', '1'], ['123', '123'], ['1234', '123-4'], ['123456', '123-456'], ['123-456', '123-456'], [' 12 34x567 8', '123-456']] as const) {
    assert.equal(formatCode(typed), want);
  }
});

test('addresses', () => {
  assert.equal(codeOf('#pair=123456'), '123-456');
  assert.equal(codeOf('#pair=123-456'), '123-456');
  assert.equal(codeOf('#pair=12345'), '');
  assert.equal(codeOf('#/watch/demo'), '');
  assert.equal(sourceOf(watchHash('window:0x1a')), 'window:0x1a');
  assert.equal(sourceOf('#/watch/display:HDMI-1'), 'display:HDMI-1');
  assert.equal(sourceOf('#/watch/%'), '');
  assert.equal(sourceOf('#/'), '');
});

const agents: [string, string][] = [
  ['Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36', 'Chrome on Linux'],
  ['Mozilla/5.0 (Linux; Android 14; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36', 'Chrome on Pixel 9'],
  ['Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36', 'Chrome on Android'],
  ['Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1', 'Safari on iPhone'],
  ['Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0', 'Edge on Windows'],
  ['Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox on Mac'],
  ['', 'Browser'],
];
for (const [agent, want] of agents) test(`device: ${want}`, () => assert.equal(deviceName(agent), want));

test('late candidates become a fragment with their section', () => {
  const offer = ['v=0', 'm=video 9 UDP/TLS/RTP/SAVPF 96', 'a=ice-ufrag:uf', 'a=ice-pwd:pw', 'a=mid:0', 'm=application 9 UDP/DTLS/SCTP webrtc-datachannel', 'a=mid:1', ''].join('\r\n');
  const candidate = { candidate: 'candidate:1 1 udp 1 192.0.2.1 5000 typ host', sdpMid: '0', usernameFragment: 'uf' };
  assert.equal(fragment(offer, [candidate], true),
    'a=ice-ufrag:uf\r\na=ice-pwd:pw\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r\na=mid:0\r\na=candidate:1 1 udp 1 192.0.2.1 5000 typ host\r\na=end-of-candidates\r\n');
});

test('figures between two samples', () => {
  const entries = (n: number) => [
    { type: 'inbound-rtp', id: 'v', kind: 'video', bytesReceived: 125000 * n, packetsReceived: 99 * n, packetsLost: n, framesDecoded: 60 * n, totalDecodeTime: 0.12 * n, jitterBufferDelay: 0.6 * n, jitterBufferEmittedCount: 60 * n, qpSum: 1200 * n, frameWidth: 640, frameHeight: 360, codecId: 'c' },
    { type: 'codec', id: 'c', mimeType: 'video/H264', sdpFmtpLine: 'profile-level-id=42e01f' },
    { type: 'transport', id: 't', selectedCandidatePairId: 'p' },
    { type: 'candidate-pair', id: 'p', currentRoundTripTime: 0.02, localCandidateId: 'l', remoteCandidateId: 'r' },
    { type: 'local-candidate', id: 'l', candidateType: 'host', address: '192.0.2.1', port: 1, protocol: 'udp' },
    { type: 'remote-candidate', id: 'r', candidateType: 'host', address: '2001:db8::1', port: 7433 },
  ];
  const f = figures(sample(entries(1), 1000), sample(entries(2), 2000));
  assert.deepEqual([f.fps, f.kbps, f.rttMs, f.jitterBufferMs, f.decodeMs, f.delayMs, f.lossPercent, f.qp], [60, 1000, 20, 10, 2, 22, 1, 20]);
  assert.deepEqual([f.route, f.remote, f.codec, f.width], ['direct', '[2001:db8::1]:7433', 'H264 baseline', 640]);
});

test('a still picture has no delay figures, and no false zeros', () => {
  const f = figures({ ...noSample, atMs: 1 }, { ...noSample, atMs: 1001 });
  assert.deepEqual([f.fps, f.delayMs, f.jitterBufferMs, f.decodeMs, f.lossPercent, f.qp], [0, null, null, null, null, null]);
});
