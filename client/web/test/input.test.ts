import assert from 'node:assert/strict';
import test from 'node:test';
import { change } from '../src/input/softtext';
import { units, type WheelTurn } from '../src/input/wheel';

const turns: [name: string, turn: WheelTurn, dx: number, dy: number][] = [
  ['a notch in Chromium', { deltaX: 0, deltaY: 100, deltaMode: 0, wheelDeltaX: 0, wheelDeltaY: -120 }, 0, 120],
  ['a notch of 53 pixels', { deltaX: 0, deltaY: -53, deltaMode: 0, wheelDeltaY: 120 }, 0, -120],
  ['a trackpad', { deltaX: -2, deltaY: 4, deltaMode: 0, wheelDeltaX: 6, wheelDeltaY: -12 }, -6, 12],
  ['pixels alone', { deltaX: 0, deltaY: 25, deltaMode: 0 }, 0, 30],
  ['three lines in Firefox', { deltaX: 0, deltaY: 3, deltaMode: 1 }, 0, 120],
  ['a page', { deltaX: 0, deltaY: 1, deltaMode: 2 }, 0, 1200],
  ['a legacy figure that contradicts', { deltaX: 0, deltaY: 100, deltaMode: 0, wheelDeltaY: 120 }, 0, 120],
  ['nothing', { deltaX: 0, deltaY: 0, deltaMode: 0, wheelDeltaY: -120 }, 0, 0],
  ['an absurd turn is held', { deltaX: 0, deltaY: 1e9, deltaMode: 0 }, 0, 12000],
];

for (const [name, turn, dx, dy] of turns) {
  test(`wheel: ${name}`, () => assert.deepEqual(units(turn), { dx, dy }));
}

const edits: [name: string, before: string, after: string, erase: number, insert: string][] = [
  ['a letter', '  ', '  a', 0, 'a'],
  ['an erased letter', '  a', '  ', 1, ''],
  ['the filler itself', '  ', ' ', 1, ''],
  ['a corrected word', '  teh', '  the ', 2, 'he '],
  ['letters outside the basic plane count once', ' 😀', ' ', 1, ''],
  ['one of two that share a half', ' 😀', ' 😁', 1, '😁'],
  ['a pasted line', '', 'a\nb', 0, 'a\nb'],
  ['nothing', 'same', 'same', 0, ''],
];

for (const [name, before, after, erase, insert] of edits) {
  test(`text: ${name}`, () => assert.deepEqual(change(before, after), { erase, insert }));
}
