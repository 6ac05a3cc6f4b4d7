import assert from 'node:assert/strict';
import test from 'node:test';
import { actualZoom, fitted, follow, panBy, place, toPicture, whole, zoomAt, type Size, type View } from '../src/view';

const hd: Size = { width: 1920, height: 1080 };

const fits: { name: string; box: Size; picture: Size; dpr: number; scale: number; left: number; top: number; sharp: boolean }[] = [
  { name: 'the same size', box: hd, picture: hd, dpr: 1, scale: 1, left: 0, top: 0, sharp: true },
  { name: 'a few pixels more stay at 1:1', box: { width: 1936, height: 1096 }, picture: hd, dpr: 1, scale: 1, left: 8, top: 8, sharp: true },
  { name: 'an odd border starts on a whole pixel', box: { width: 1925, height: 1083 }, picture: hd, dpr: 1, scale: 1, left: 2, top: 1, sharp: true },
  { name: 'twice the pixels on a dense screen', box: { width: 960, height: 540 }, picture: { width: 960, height: 540 }, dpr: 2, scale: 2, left: 0, top: 0, sharp: true },
  { name: 'a dense screen of the same pixels', box: { width: 960, height: 540 }, picture: hd, dpr: 2, scale: 1, left: 0, top: 0, sharp: true },
  { name: 'smaller windows scale down', box: { width: 960, height: 600 }, picture: hd, dpr: 1, scale: 0.5, left: 0, top: 30, sharp: false },
  { name: 'much larger windows fill', box: { width: 2880, height: 1620 }, picture: hd, dpr: 1, scale: 1.5, left: 0, top: 0, sharp: false },
];

for (const c of fits) {
  test(`fit: ${c.name}`, () => {
    const p = place(c.box, c.picture, c.dpr, fitted);
    assert.deepEqual([p.scale, p.left, p.top, p.sharp], [c.scale, c.left, c.top, c.sharp]);
  });
}

test('the picture never leaves whole device pixels, and never the window', () => {
  for (const dpr of [1, 1.25, 1.5, 2, 3]) {
    for (let width = 320; width < 2200; width += 37) {
      const box = { width, height: 700 };
      const p = place(box, hd, dpr, fitted);
      for (const v of [p.left, p.top, p.width, p.height]) assert.ok(Math.abs(v * dpr - Math.round(v * dpr)) < 1e-6);
      assert.ok(p.width <= box.width + 1 / dpr && p.height <= box.height + 1 / dpr, `${width} at ${dpr}`);
    }
  }
});

test('at 1:1 every pixel of the window is its pixel of the picture', () => {
  const p = place({ width: 1936, height: 1096 }, hd, 1, fitted);
  assert.deepEqual(toPicture(p, hd, 8, 8), { x: 0, y: 0, inside: true });
  assert.deepEqual(toPicture(p, hd, 108, 208), { x: 100, y: 200, inside: true });
  assert.deepEqual(toPicture(p, hd, 1927, 1087), { x: 1919, y: 1079, inside: true });
});

test('the letterbox is outside, and its points are held at the edge', () => {
  const p = place({ width: 960, height: 600 }, hd, 1, fitted);
  assert.deepEqual(toPicture(p, hd, 480, 10), { x: 960, y: 0, inside: false });
  assert.deepEqual(toPicture(p, hd, 2000, 599), { x: 1919, y: 1079, inside: false });
});

test('zooming keeps the point under the fingers', () => {
  const box = { width: 390, height: 844 };
  for (const [px, py] of [[195, 422], [100, 400], [300, 480]] as const) {
    const before = toPicture(place(box, hd, 3, fitted), hd, px, py);
    const view = zoomAt(box, hd, 3, fitted, 9, px, py);
    const after = toPicture(place(box, hd, 3, view), hd, px, py);
    assert.ok(Math.abs(before.x - after.x) < 2, `x ${before.x} ${after.x}`);
    assert.ok(Math.abs(before.y - after.y) < 2, `y ${before.y} ${after.y}`);
  }
});

test('zooming out ends at the fitted view, centred', () => {
  const box = { width: 390, height: 844 };
  let view: View = zoomAt(box, hd, 3, fitted, 4, 10, 500);
  view = zoomAt(box, hd, 3, view, 0.01, 300, 20);
  assert.equal(view.zoom, 1);
  assert.deepEqual([view.x, view.y], [0.5, 0.5]);
});

test('panning stops at the edges', () => {
  const box = { width: 400, height: 300 };
  const view = panBy(box, hd, 1, zoomAt(box, hd, 1, fitted, 4, 200, 150), 9999, 9999);
  const p = place(box, hd, 1, view);
  assert.deepEqual([p.left, p.top], [0, 0]);
  const back = place(box, hd, 1, panBy(box, hd, 1, view, -50, -20));
  assert.ok(Math.abs(back.left + 50) <= 1 && Math.abs(back.top + 20) <= 1);
});

test('actual size is one to one and follows the mouse to every corner', () => {
  const box = { width: 1000, height: 600 };
  const view = { zoom: actualZoom(box, hd, 1), x: 0.5, y: 0.5 };
  const corner = place(box, hd, 1, follow(box, hd, 1, view, 1000, 600));
  assert.deepEqual([corner.scale, corner.left, corner.top], [1, -920, -480]);
  const start = place(box, hd, 1, follow(box, hd, 1, view, 0, 0));
  assert.deepEqual([start.left, start.top], [0, 0]);
});

const renditions: { name: string; received: Size; source: Size | null; is: 'source' | 'received' }[] = [
  { name: 'all of it', received: hd, source: hd, is: 'source' },
  { name: 'three quarters', received: { width: 1440, height: 810 }, source: hd, is: 'source' },
  { name: 'a half', received: { width: 960, height: 540 }, source: hd, is: 'source' },
  { name: 'three quarters, rounded to even sides', received: { width: 1024, height: 576 }, source: { width: 1366, height: 768 }, is: 'source' },
  { name: 'a half of a small one, rounded', received: { width: 84, height: 66 }, source: { width: 166, height: 130 }, is: 'source' },
  { name: 'less than a half', received: { width: 640, height: 360 }, source: hd, is: 'received' },
  { name: 'another shape', received: { width: 1024, height: 768 }, source: hd, is: 'received' },
  { name: 'nearly the same', received: { width: 1900, height: 1080 }, source: hd, is: 'received' },
  { name: 'larger', received: hd, source: { width: 1280, height: 720 }, is: 'received' },
  { name: 'a source unknown', received: hd, source: null, is: 'received' },
];

for (const c of renditions) {
  test(`a received picture stands for its source: ${c.name}`, () => {
    assert.deepEqual(whole(c.received, c.source), c.is === 'source' ? c.source : c.received);
  });
}
