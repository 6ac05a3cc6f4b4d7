// The help sheet: how to work in the desktop, and how to get out of it.

import { h, iconButton } from './dom';

type Line = [what: string, does: string];

const touchLines: Line[] = [
  ['Tap', 'Click'],
  ['Tap twice', 'Double-click'],
  ['Hold, then lift', 'Right-click; a two-finger tap does it too'],
  ['Drag', 'Move the pointer; when zoomed in, move the view'],
  ['Tap, then drag', 'Drag with the button held'],
  ['Drag with two fingers', 'Scroll'],
  ['Pinch', 'Zoom the view'],
];

const keyLines: Line[] = [
  ['Ctrl + Alt + Shift + Q', 'Leave the desktop: the keyboard belongs to this page again, and the toolbar has the focus'],
  ['Ctrl + Alt + Shift + S', 'Show or hide stats'],
  ['F11', 'Stays with the browser; send it to the desktop with the Keys button'],
  ['Full screen', 'Where the browser allows it, system shortcuts such as Alt + Tab go to the desktop too. Hold Esc to leave.'],
];

const mouseLines: Line[] = [
  ['Click the picture', 'Give the desktop the keyboard'],
  ['Actual size', 'One pixel of the desktop on one of this screen; the view follows the mouse'],
  ['Pinch on a trackpad', 'Zoom the view'],
];

function table(title: string, lines: Line[]): HTMLElement {
  const list = h('dl', {});
  for (const [what, does] of lines) list.append(h('div', {}, h('dt', {}, what), h('dd', {}, does)));
  return h('section', {}, h('h3', {}, title), list);
}

export function helpSheet(): HTMLDialogElement {
  const touch = matchMedia('(pointer: coarse)').matches;
  const parts = [table('Keyboard', keyLines), table('Mouse', mouseLines)];
  if (touch) parts.unshift(table('Touch', touchLines));
  else parts.push(table('Touch', touchLines));
  const dialog: HTMLDialogElement = h(
    'dialog',
    { class: 'sheet', testid: 'help-sheet', 'aria-labelledby': 'help-title' },
    h('header', {}, h('h2', { id: 'help-title' }, 'Working on the desktop'), iconButton('close', 'Close', 'help-close', () => dialog.close())),
    ...parts,
    h(
      'p',
      { class: 'fine' },
      'With a screen reader: turn its browse or reading mode off over the picture, so that keys reach the desktop. ',
      'Ctrl + Alt + Shift + Q always brings you back to this toolbar. The desktop itself is a picture, without text that could be read out.',
    ),
  );
  // A click on the backdrop is a click on the dialog itself.
  dialog.addEventListener('click', (e) => e.target === dialog && dialog.close());
  return dialog;
}
