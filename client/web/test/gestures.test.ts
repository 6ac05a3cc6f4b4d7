import assert from 'node:assert/strict';
import test from 'node:test';
import { Gestures, type Action } from '../src/input/gestures';

type Step =
  | ['down' | 'move', id: number, x: number, y: number, at: number]
  | ['up', id: number, at: number]
  | ['wake', at: number]
  | ['cancel'];

function play(steps: Step[], zoomed = false): Action[] {
  const g = new Gestures();
  const out: Action[] = [];
  for (const s of steps) {
    if (s[0] === 'down') out.push(...g.down({ id: s[1], x: s[2], y: s[3] }, s[4]));
    else if (s[0] === 'move') out.push(...g.move({ id: s[1], x: s[2], y: s[3] }, zoomed));
    else if (s[0] === 'up') out.push(...g.up(s[1], s[2]));
    else if (s[0] === 'wake') out.push(...g.wake(s[1]));
    else out.push(...g.cancel());
  }
  return out;
}

const cases: [name: string, steps: Step[], want: Action[], zoomed?: boolean][] = [
  ['tap', [['down', 1, 50, 60, 0], ['up', 1, 80]], [{ do: 'click', button: 0, x: 50, y: 60 }]],
  ['a tap that trembles', [['down', 1, 50, 60, 0], ['move', 1, 54, 63, 30], ['up', 1, 80]], [{ do: 'click', button: 0, x: 50, y: 60 }]],
  ['hold', [['down', 1, 50, 60, 0], ['wake', 450], ['up', 1, 700]], [{ do: 'hold', x: 50, y: 60 }, { do: 'click', button: 2, x: 50, y: 60 }]],
  ['too early a wake', [['down', 1, 50, 60, 0], ['wake', 449], ['up', 1, 460]], [{ do: 'click', button: 0, x: 50, y: 60 }]],
  ['drag moves the pointer', [['down', 1, 0, 0, 0], ['move', 1, 20, 0, 10], ['move', 1, 30, 5, 20], ['up', 1, 30]], [{ do: 'move', x: 20, y: 0 }, { do: 'move', x: 30, y: 5 }]],
  ['drag pans when zoomed', [['down', 1, 0, 0, 0], ['move', 1, 20, 0, 10], ['move', 1, 30, 5, 20], ['up', 1, 30]], [{ do: 'pan', dx: 20, dy: 0 }, { do: 'pan', dx: 10, dy: 5 }], true],
  ['double tap', [['down', 1, 5, 5, 0], ['up', 1, 50], ['down', 2, 6, 5, 150], ['up', 2, 200]], [{ do: 'click', button: 0, x: 5, y: 5 }, { do: 'click', button: 0, x: 6, y: 5 }]],
  ['tap and drag', [['down', 1, 5, 5, 0], ['up', 1, 50], ['down', 2, 6, 5, 150], ['move', 2, 46, 5, 170], ['up', 2, 200]],
    [{ do: 'click', button: 0, x: 5, y: 5 }, { do: 'down', x: 6, y: 5 }, { do: 'move', x: 46, y: 5 }, { do: 'up', x: 46, y: 5 }]],
  ['two fingers tap', [['down', 1, 0, 0, 0], ['down', 2, 60, 0, 20], ['up', 1, 120], ['up', 2, 130]], [{ do: 'click', button: 2, x: 30, y: 0 }]],
  ['two fingers scroll', [['down', 1, 0, 0, 0], ['down', 2, 60, 0, 20], ['move', 1, 0, 20, 30], ['move', 2, 60, 20, 40], ['move', 1, 0, 30, 50], ['up', 1, 60], ['up', 2, 60]],
    [{ do: 'scroll', dx: 0, dy: 20, x: 30, y: 0 }, { do: 'scroll', dx: 0, dy: 5, x: 30, y: 0 }]],
  ['pinch', [['down', 1, 0, 0, 0], ['down', 2, 60, 0, 20], ['move', 2, 90, 0, 30], ['up', 2, 60], ['up', 1, 60]], [{ do: 'zoom', factor: 1.5, x: 45, y: 0, dx: 15, dy: 0 }]],
  ['a finger that stays after a pinch does nothing', [['down', 1, 0, 0, 0], ['down', 2, 60, 0, 20], ['up', 2, 400], ['move', 1, 90, 0, 420], ['up', 1, 430]], []],
  ['a drag that the system ends lets go', [['down', 1, 5, 5, 0], ['up', 1, 50], ['down', 2, 6, 5, 150], ['move', 2, 46, 5, 170], ['cancel']],
    [{ do: 'click', button: 0, x: 5, y: 5 }, { do: 'down', x: 6, y: 5 }, { do: 'move', x: 46, y: 5 }, { do: 'up', x: 46, y: 5 }]],
  ['a second finger ends a drag', [['down', 1, 5, 5, 0], ['up', 1, 50], ['down', 2, 6, 5, 150], ['move', 2, 46, 5, 170], ['down', 3, 90, 90, 180], ['up', 2, 200], ['up', 3, 210]],
    [{ do: 'click', button: 0, x: 5, y: 5 }, { do: 'down', x: 6, y: 5 }, { do: 'move', x: 46, y: 5 }, { do: 'up', x: 46, y: 5 }]],
  ['three fingers', [['down', 1, 0, 0, 0], ['down', 2, 60, 0, 10], ['down', 3, 90, 0, 20], ['up', 1, 60], ['up', 2, 60], ['up', 3, 60]], []],
];

for (const [name, steps, want, zoomed] of cases) {
  test(`touch: ${name}`, () => assert.deepEqual(play(steps, zoomed), want));
}

test('touch: after any gesture the next tap is a tap', () => {
  const g = new Gestures();
  g.down({ id: 1, x: 0, y: 0 }, 0);
  g.down({ id: 2, x: 9, y: 9 }, 0);
  g.cancel();
  g.down({ id: 3, x: 1, y: 1 }, 1000);
  assert.deepEqual(g.up(3, 1050), [{ do: 'click', button: 0, x: 1, y: 1 }]);
  assert.equal(g.wakeAt, 0);
});
