package types

// Location is one active location the key may use (docs/openapi.yaml, Location).
type Location struct {
	ID           string        `json:"id" row:"id"`
	Name         string        `json:"name"`
	Address      *string       `json:"address"`
	City         *string       `json:"city"`
	Phone        *string       `json:"phone"`
	Timezone     string        `json:"timezone"`
	Ordering     Ordering      `json:"ordering"`
	OpeningHours *OpeningHours `json:"opening_hours"`
}

// Ordering is whether an order can be placed now.
type Ordering struct {
	Accepting           bool     `json:"accepting"`
	Status              string   `json:"status" enum:"open,paused,closed,disabled"`
	Message             *string  `json:"message"`
	PausedUntil         *Instant `json:"paused_until"`
	NextOpeningAt       *Instant `json:"next_opening_at"`
	Types               []string `json:"types" enum:"pickup,delivery"`
	DefaultPrepMinutes  int64    `json:"default_prep_minutes"`
	AnswerWithinMinutes int64    `json:"answer_within_minutes"`
}

// OpeningHours are the local hours of each weekday and their exceptions.
type OpeningHours struct {
	Monday     DayHours         `json:"monday"`
	Tuesday    DayHours         `json:"tuesday"`
	Wednesday  DayHours         `json:"wednesday"`
	Thursday   DayHours         `json:"thursday"`
	Friday     DayHours         `json:"friday"`
	Saturday   DayHours         `json:"saturday"`
	Sunday     DayHours         `json:"sunday"`
	Exceptions []HoursException `json:"exceptions"`
}

// DayHours are HH:MM local times; a close earlier than open is after midnight.
type DayHours struct {
	Open   *string `json:"open"`
	Close  *string `json:"close"`
	Closed bool    `json:"closed"`
}

// HoursException is a day that differs from its weekday.
type HoursException struct {
	Date   Date    `json:"date"`
	Closed bool    `json:"closed"`
	Reason *string `json:"reason"`
}
