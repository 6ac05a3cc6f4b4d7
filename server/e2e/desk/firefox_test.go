package desk

import "testing"

func TestFirefox(t *testing.T) {
	f, err := StartFirefox(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Open("data:text/html,<title>hello</title>"); err != nil {
		t.Fatal(err)
	}
	if s, err := EvalFirefox[string](f, "document.title"); s != "hello" || err != nil {
		t.Errorf("%q, %v", s, err)
	}
	if n, err := EvalFirefox[int](f, "Promise.resolve(1 + 1)"); n != 2 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := EvalFirefox[int](f, "nowhere.at.all"); err == nil {
		t.Error("an exception was lost")
	}
}
