package dashboards

import "fmt"

// Languages are those that every dashboard is made in.
var Languages = []string{"ro", "en"}

// text is what a person reads, in each of the languages.
type text struct{ ro, en string }

func (t text) in(language string) string {
	if language == "en" {
		return t.en
	}
	return t.ro
}

// texts are the texts of a dashboard by key: "title" and "about" are its own; a panel's
// key is its title, key.about its description, and key.empty what stands there instead of
// "No data"; a column's key is its heading.
type texts map[string]text

// reader finds texts in one language, first in those of a dashboard, then in those that
// all share, and remembers what is missing.
type reader struct {
	own      texts
	language string
	missing  []string
}

func (r *reader) text(key string) string {
	found, ok := r.own[key]
	if !ok {
		found, ok = sharedTexts[key]
	}
	if !ok || found.in(r.language) == "" {
		r.missing = append(r.missing, key)
	}
	return found.in(r.language)
}

// or is the text of a key, or of another one when there is none.
func (r *reader) or(key, otherwise string) string {
	_, own := r.own[key]
	if _, shared := sharedTexts[key]; own || shared {
		return r.text(key)
	}
	return r.text(otherwise)
}

func (r *reader) err() error {
	if len(r.missing) > 0 {
		return fmt.Errorf("texts without a %s form: %q", r.language, r.missing)
	}
	return nil
}
