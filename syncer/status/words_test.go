package status

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestProgressInWords(t *testing.T) {
	march, left := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), Seconds(130*time.Second)
	for want, p := range map[string]Progress{
		"1 row":                                                 {Rows: 1},
		"0 of 1 row, 1 request left":                            {TotalRows: 1, RequestsLeft: 1},
		"1,840 rows, back to 2026-03-01":                        {Walk: "totals", Rows: 1840, Reached: march},
		"400 of 1,430 rows, 2 min left, 12 requests":            {Rows: 400, TotalRows: 1430, RequestsLeft: 12, ExpectedLeft: left},
		"full resync: at least 400 of 1,430 rows":               {Walk: "full", AtLeast: true, Rows: 400, TotalRows: 1430},
		"deep run: 4 of 12 questions, 16 s left":                {Walk: WalkDeep, Pages: 4, RequestsLeft: 8, ExpectedLeft: Seconds(16 * time.Second)},
		"deep run: 1 day differs, asked again in 2 min":         {Walk: WalkDeep, Pages: 12, RequestsLeft: 2, Suspects: 1, ExpectedLeft: left},
		"2 rows differ at first sight, compared again in 2 min": {Walk: WalkVerify, Suspects: 2, ExpectedLeft: left},
	} {
		if got := p.Text(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestProofInWords(t *testing.T) {
	for want, p := range map[string]ProofStatus{
		"not proven yet":                           {},
		"proven until 2026-03-01":                  {ProvenUntil: "2026-03-01"},
		"proven until 2026-03-01, 1 day explained": {ProvenUntil: "2026-03-01", ExplainedDays: 1},
	} {
		if got := p.Text(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestWhenASourceInTroubleIsAskedAgain(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for want, s := range map[string]SourceStatus{
		"":                   {NextProbe: now},
		"asked again in 8 s": {NextProbe: now.Add(8 * time.Second)},
		"in trouble for 20 min, asked again in 3 min": {NextProbe: now.Add(3 * time.Minute), Since: now.Add(-20 * time.Minute)},
	} {
		s.State, s.Detail = StateUnreachable, "check the certificate"
		s.Streams = []StreamStatus{{Name: "products", State: StateRunning, Damaged: true}} // which is worse
		concerns, notes := s.Shown(now)
		if got := strings.Join(notes, "; "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if kindsOf(concerns) != "damage unserved" || concerns[0].Advice != adviceProblem || concerns[1].Advice != "Check the certificate." {
			t.Errorf("%+v", concerns)
		}
	}
}

// That all personal data is kept is unusual, and the note names what it is.
func TestWhatIsKeptOfPeopleIsNamed(t *testing.T) {
	s := with(func(s *SourceStatus) { s.PersonalData = "keep" })
	if _, notes := s.Shown(time.Now()); !slices.Contains(notes, "all personal data is kept: names, phones, addresses (personal_data: keep)") {
		t.Errorf("%q", notes)
	}
}
