package input

// evdevCodes gives the Linux input event code (linux/input-event-codes.h) of a
// physical key by its DOM KeyboardEvent.code (W3C UI Events code values). X
// servers whose keyboard follows the evdev rules number their keycodes as
// these plus evdevOffset. Codes above 247 have no X11 keycode and are left out.
var evdevCodes = map[string]uint8{
	"Escape": 1,
	"Digit1": 2, "Digit2": 3, "Digit3": 4, "Digit4": 5, "Digit5": 6,
	"Digit6": 7, "Digit7": 8, "Digit8": 9, "Digit9": 10, "Digit0": 11,
	"Minus": 12, "Equal": 13, "Backspace": 14, "Tab": 15,
	"KeyQ": 16, "KeyW": 17, "KeyE": 18, "KeyR": 19, "KeyT": 20,
	"KeyY": 21, "KeyU": 22, "KeyI": 23, "KeyO": 24, "KeyP": 25,
	"BracketLeft": 26, "BracketRight": 27, "Enter": 28, "ControlLeft": 29,
	"KeyA": 30, "KeyS": 31, "KeyD": 32, "KeyF": 33, "KeyG": 34,
	"KeyH": 35, "KeyJ": 36, "KeyK": 37, "KeyL": 38,
	"Semicolon": 39, "Quote": 40, "Backquote": 41, "ShiftLeft": 42, "Backslash": 43,
	"KeyZ": 44, "KeyX": 45, "KeyC": 46, "KeyV": 47, "KeyB": 48, "KeyN": 49, "KeyM": 50,
	"Comma": 51, "Period": 52, "Slash": 53, "ShiftRight": 54,
	"AltLeft": 56, "Space": 57, "CapsLock": 58,
	"F1": 59, "F2": 60, "F3": 61, "F4": 62, "F5": 63,
	"F6": 64, "F7": 65, "F8": 66, "F9": 67, "F10": 68, "F11": 87, "F12": 88,
	"F13": 183, "F14": 184, "F15": 185, "F16": 186, "F17": 187, "F18": 188,
	"F19": 189, "F20": 190, "F21": 191, "F22": 192, "F23": 193, "F24": 194,

	"NumLock": 69, "ScrollLock": 70,
	"Numpad0": 82, "Numpad1": 79, "Numpad2": 80, "Numpad3": 81, "Numpad4": 75,
	"Numpad5": 76, "Numpad6": 77, "Numpad7": 71, "Numpad8": 72, "Numpad9": 73,
	"NumpadMultiply": 55, "NumpadSubtract": 74, "NumpadAdd": 78, "NumpadDecimal": 83,
	"NumpadEnter": 96, "NumpadDivide": 98, "NumpadEqual": 117, "NumpadComma": 121,
	"NumpadChangeSign": 118, "NumpadParenLeft": 179, "NumpadParenRight": 180,

	"ControlRight": 97, "PrintScreen": 99, "AltRight": 100,
	"Home": 102, "ArrowUp": 103, "PageUp": 104, "ArrowLeft": 105, "ArrowRight": 106,
	"End": 107, "ArrowDown": 108, "PageDown": 109, "Insert": 110, "Delete": 111,
	"Pause": 119, "MetaLeft": 125, "MetaRight": 126, "ContextMenu": 127,
	// The names that older browsers give to Meta.
	"OSLeft": 125, "OSRight": 126,

	"IntlBackslash": 86, "IntlRo": 89, "IntlYen": 124,
	"Convert": 92, "KanaMode": 93, "NonConvert": 94,
	"Lang1": 122, "Lang2": 123, "Lang3": 90, "Lang4": 91, "Lang5": 85,

	"AudioVolumeMute": 113, "AudioVolumeDown": 114, "AudioVolumeUp": 115,
	"VolumeMute": 113, "VolumeDown": 114, "VolumeUp": 115,
	"MediaTrackNext": 163, "MediaPlayPause": 164, "MediaTrackPrevious": 165, "MediaStop": 166,
	"MediaRecord": 167, "MediaRewind": 168, "MediaSelect": 171, "MediaPause": 201,
	"MediaPlay": 207, "MediaFastForward": 208, "Eject": 161,

	"Power": 116, "Sleep": 142, "WakeUp": 143,
	"BrightnessDown": 224, "BrightnessUp": 225,
	"BrowserStop": 128, "BrowserFavorites": 156, "BrowserBack": 158, "BrowserForward": 159,
	"BrowserHome": 172, "BrowserRefresh": 173, "BrowserSearch": 217,
	"LaunchApp1": 144, "LaunchApp2": 140, "LaunchMail": 155,
	"Again": 129, "Props": 130, "Undo": 131, "Select": 132, "Copy": 133, "Open": 134,
	"Paste": 135, "Find": 136, "Cut": 137, "Help": 138,
}

// evdevOffset lies between evdev codes and X11 keycodes, which start at 8.
const evdevOffset = 8
