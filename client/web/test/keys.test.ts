import assert from 'node:assert/strict';
import test from 'node:test';
import { decide, type KeyContext, type KeyPress, type Verdict } from '../src/input/keys';
import { strokeFor, usChar } from '../src/input/layout';

const plain: KeyContext = { mac: false, afterDead: false, rightOption: false, sticky: false, fullScreen: false };

function press(code: string, key: string, more: Partial<KeyPress> = {}): KeyPress {
  return { code, key, ctrlKey: false, altKey: false, shiftKey: false, metaKey: false, altGraph: false, composing: false, ...more };
}

const key = (code: string): Verdict => ({ act: 'key', code });
const text = (t: string): Verdict => ({ act: 'text', text: t });
const shift = { shiftKey: true };

const cases: [name: string, press: KeyPress, want: Verdict, context?: Partial<KeyContext>][] = [
  ['a letter where a US keyboard has it', press('KeyA', 'a'), key('KeyA')],
  ['its capital with Shift', press('KeyA', 'A', shift), key('KeyA')],
  ['a capital that CapsLock made', press('KeyA', 'A'), text('A')],
  ['a shifted sign', press('Digit1', '!', shift), key('Digit1')],
  ['the German z', press('KeyY', 'z'), text('z')],
  ['the German ä', press('Quote', 'ä'), text('ä')],
  ['the French digit', press('Digit1', '1', shift), text('1')],
  ['a sign by AltGr', press('KeyQ', '@', { altGraph: true, ctrlKey: true, altKey: true }), text('@')],
  ['AltGr itself', press('AltRight', 'AltGraph'), { act: 'nothing' }],
  ['the right Alt of a US keyboard', press('AltRight', 'Alt', { altKey: true }), key('AltRight')],
  ['a shortcut goes by position', press('KeyY', 'z', { ctrlKey: true }), key('KeyY')],
  ['a shortcut with Super', press('KeyE', 'e', { metaKey: true }), key('KeyE')],
  ['a character under a toolbar modifier', press('Quote', 'ä'), key('Quote'), { sticky: true }],
  ['a dead key', press('Backquote', 'Dead'), { act: 'compose' }],
  ['the key after a dead key', press('KeyE', 'ê'), { act: 'compose' }, { afterDead: true }],
  ['Escape after a dead key', press('Escape', 'Escape'), key('Escape'), { afterDead: true }],
  ['a key that an input method has', press('KeyK', 'k', { composing: true }), { act: 'compose' }],
  ['a soft keyboard without codes', press('', 'Unidentified', { composing: true }), { act: 'compose' }],
  ['a soft keyboard that names Enter', press('', 'Enter'), key('Enter')],
  ['a soft keyboard that gives a character', press('', 'x'), text('x')],
  ['NumLock on: a digit', press('Numpad7', '7'), text('7')],
  ['NumLock off: a move', press('Numpad7', 'Home'), key('Home')],
  ['the keypad signs', press('NumpadAdd', '+'), key('NumpadAdd')],
  ['the keypad Enter', press('NumpadEnter', 'Enter'), key('NumpadEnter')],
  ['CapsLock stays here', press('CapsLock', 'CapsLock'), { act: 'nothing' }],
  ['Tab goes to the desktop', press('Tab', 'Tab'), key('Tab')],
  ['F11 is the browser\u2019s in a window', press('F11', 'F11'), { act: 'browser' }],
  ['F11 goes to the desktop in full screen', press('F11', 'F11'), key('F11'), { fullScreen: true }],
  ['the way out', press('KeyQ', 'Q', { ctrlKey: true, altKey: true, shiftKey: true }), { act: 'command', command: 'leave' }],
  ['stats', press('KeyS', 'S', { ctrlKey: true, altKey: true, shiftKey: true }), { act: 'command', command: 'stats' }],
  ['a Mac\u2019s right Option types', press('KeyL', '@', { altKey: true }), text('@'), { mac: true, rightOption: true }],
  ['a Mac\u2019s left Option is Alt', press('KeyF', 'ƒ', { altKey: true }), key('KeyF'), { mac: true }],
  ['but makes the signs that programs need', press('KeyL', '@', { altKey: true }), text('@'), { mac: true }],
  ['a character beyond the basic plane', press('KeyU', '😀'), text('😀')],
  ['Space', press('Space', ' '), key('Space')],
];

for (const [name, k, want, context] of cases) {
  test(`key: ${name}`, () => assert.deepEqual(decide(k, { ...plain, ...context }), want));
}

test('the US layout covers printable ASCII, both ways', () => {
  for (let c = 0x20; c < 0x7f; c++) {
    const char = String.fromCharCode(c);
    const stroke = strokeFor(char);
    assert.ok(stroke, char);
    if (stroke) assert.equal(usChar(stroke.code, stroke.shift), char);
  }
  assert.equal(strokeFor('ä'), null);
  assert.equal(strokeFor(''), null);
  assert.equal(strokeFor('ab'), null);
});
