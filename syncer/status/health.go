package status

import (
	"cmp"
	"encoding/json"
)

// How well the mirror is, is judged here and nowhere else: the page, larder status,
// /readyz, the metrics and the JSON of a status say the same. A mirror is well when it
// is fresh and proven and nothing of it is in quarantine; each thing that is otherwise
// is a [Concern].

// The kinds of concerns, the worst first.
const (
	HealthRefused       = "refused"       // a key is refused, disabled, or may not read what it should
	HealthWarehouse     = "warehouse"     // the warehouse takes no rows
	HealthDamage        = "damage"        // rows that the warehouse held are lost
	HealthUnserved      = "unserved"      // the service does not answer, or nothing can be asked of it
	HealthHeld          = "sweep_held"    // a sweep waits for a person
	HealthDrift         = "drift"         // days differ from the service's totals
	HealthQuarantine    = "quarantine"    // rows could not be understood
	HealthConfiguration = "configuration" // a changed configuration was refused
	HealthBehind        = "behind"        // walks fail, or have not come to an end for long
	HealthUnproven      = "unproven"      // days that should be proven are not
	HealthBackfill      = "backfill"      // the first backfill is under way
	HealthStarting      = "starting"      // the first answers are still to come
	HealthGood          = "up_to_date"    // fresh, proven, nothing in quarantine
	HealthWaiting       = "waiting"       // another process serves the source
	HealthStopped       = "stopped"       // no daemon serves it: freshness is not known
	HealthNone          = "no_sources"    // there is nothing to mirror; of a stream: it is no concern (off, waiting, stopped)
)

// Tone is how much attention something wants.
type Tone string

// The tones. Only what is well in every respect is good.
const (
	ToneTrouble Tone = "trouble" // a person should look
	ToneBusy    Tone = "busy"    // it comes right by itself, and is not there yet
	ToneGood    Tone = "good"
	ToneQuiet   Tone = "quiet" // as it should be, and nothing is said of the mirror
)

// severity is the order of the kinds, with their tones.
var severity = []struct {
	kind string
	tone Tone
}{
	{HealthRefused, ToneTrouble}, {HealthWarehouse, ToneTrouble}, {HealthDamage, ToneTrouble}, {HealthUnserved, ToneTrouble}, {HealthHeld, ToneTrouble},
	{HealthDrift, ToneTrouble}, {HealthQuarantine, ToneTrouble}, {HealthConfiguration, ToneTrouble}, {HealthBehind, ToneTrouble},
	{HealthUnproven, ToneBusy}, {HealthBackfill, ToneBusy}, {HealthStarting, ToneBusy},
	{HealthGood, ToneGood}, {HealthWaiting, ToneQuiet}, {HealthStopped, ToneQuiet}, {HealthNone, ToneQuiet},
}

// Concern is one thing to know about how well a source is, or all of them are.
type Concern struct {
	Kind  string `json:"kind"`
	Label string `json:"label"` // a few words for a badge: "90 days differ"
	Text  string `json:"text"`  // a sentence that says what is wrong
	// Advice says where to look and what to do; empty when there is nothing to do.
	Advice string `json:"advice,omitempty"`
	// Amount is of what the kind counts: days, rows, streams; 0 for none.
	Amount int `json:"amount,omitempty"`
}

// Tone is how much attention the concern wants.
func (c Concern) Tone() Tone { return severity[c.rank()].tone }

func (c Concern) rank() int {
	for i, s := range severity {
		if s.kind == c.Kind {
			return i
		}
	}
	return 0 // what is not known is looked at
}

// Health is the worst of a source's concerns.
func (s *SourceStatus) Health() Concern { return s.Concerns()[0] }

// Health is the worst of all concerns.
func (s *Status) Health() Concern { return s.Concerns()[0] }

// Compare orders concerns, the worst first.
func (c Concern) Compare(other Concern) int { return cmp.Compare(c.rank(), other.rank()) }

// MarshalJSON adds what is the matter.
func (s Status) MarshalJSON() ([]byte, error) { return s.MarshalWith(s.Sources) }

// MarshalWith returns the JSON with sources as the caller writes them; the judgement is of all of them.
func (s Status) MarshalWith(sources any) ([]byte, error) {
	type plain Status
	all := s.Concerns()
	return json.Marshal(struct {
		Health   string    `json:"health"` // the worst
		Concerns []Concern `json:"concerns"`
		plain
		Sources any `json:"sources"`
	}{all[0].Kind, all, plain(s), sources})
}

// MarshalJSON adds what is the matter.
func (s SourceStatus) MarshalJSON() ([]byte, error) {
	type plain SourceStatus
	all := s.Concerns()
	return json.Marshal(struct {
		plain
		Health   string    `json:"health"`
		Concerns []Concern `json:"concerns"`
	}{plain(s), all[0].Kind, all})
}
