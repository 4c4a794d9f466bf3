package replace

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/sinks"
)

func TestWhatIsStoredIsReadBack(t *testing.T) {
	for name, c := range map[string]struct {
		walk, position string
		parts          parts
		ids            []string
	}{
		"a list": {sinks.WalkSnapshot, `{"":{"digest":"d","ids":["a","b"]}}`, parts{whole: {Digest: "d", IDs: []string{"a", "b"}}}, []string{"a", "b"}},
		"menus": {sinks.WalkMenus, `{"l1":{"etag":"\"1\"","digest":"d","row":7},"l2":{}}`,
			parts{"l1": {ETag: `"1"`, Digest: "d", Row: 7}, "l2": {}}, []string{"l1", "l2"}},
		"no menu": {sinks.WalkMenus, `{}`, parts{}, nil},
	} {
		cp := sinks.Checkpoint{Stream: "s", Walk: c.walk, Position: c.position}
		got, err := readPosition(cp)
		if diff := cmp.Diff(c.parts, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got)\n%s", name, err, diff)
		}
		if text := c.parts.position(); text != c.position {
			t.Errorf("%s is stored as %s", name, text)
		}
		if ids, err := IDs(cp); !slices.Equal(ids, c.ids) || err != nil {
			t.Errorf("%s: ids %q, %v", name, ids, err)
		}
	}
	for _, text := range []string{``, `[`, `{"menus":{"l1":{"digest":"d"}}}`} {
		if got, err := readPosition(sinks.Checkpoint{Walk: sinks.WalkMenus, Position: text}); err == nil || got == nil || len(got) > 0 {
			t.Errorf("%s, which cannot be read: %v, %v", text, got, err)
		}
	}
}

func TestADigestIsOfTheRowsInAnyOrder(t *testing.T) {
	a, b := []byte(`{"id":"a"}`), []byte(`{"id":"b"}`)
	if digestOf([][]byte{a, b}) != digestOf([][]byte{b, a}) || digestOf([][]byte{a}) == digestOf([][]byte{a, b}) || digestOf(nil) == digestOf([][]byte{a}) {
		t.Error("lists are taken for others, or for the same")
	}
}

func TestA304ConfirmsTheVersionThatItNames(t *testing.T) {
	for etag, want := range map[string]bool{"": true, `"1"`: true, `W/"1"`: true, `"2"`: false} {
		if got := (part{ETag: `W/"1"`}).confirms(api.MenuAnswer{ETag: etag}); got != want {
			t.Errorf("a 304 with %q: %v", etag, got)
		}
	}
}
