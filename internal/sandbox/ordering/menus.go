package ordering

import (
	"bytes"
	"crypto/sha256"
	"math"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox/world"
	"github.com/larder-sync/larder/internal/sandbox/world/rows"
)

// menus reads locations and their menus as a key would, and keeps each menu until the rows
// that it is made of change.
type menus struct {
	business *world.Business
	view     world.View
	made     map[string]*Menu // by location
}

func everywhere(string) bool { return true }

// locationIDs are the active locations.
func (s *menus) locationIDs(now int64) []string {
	s.view.Open(s.business, everywhere, now)
	defer s.view.Close()
	return s.view.LocationIDs()
}

// openAt is true when an instant is within the opening hours of a location.
func (s *menus) openAt(locationID string, at int64) bool {
	s.view.Open(s.business, everywhere, at)
	defer s.view.Close()
	return s.view.OpenNow(locationID)
}

// at reads a location and its menu; false for one that is not there, not active, or not
// the key's.
func (s *menus) at(app App, locationID string, now int64) (types.Location, *Menu, bool) {
	s.view.Open(s.business, app.May, now)
	l, ok := s.view.Location(locationID)
	s.view.Close()
	if !ok {
		return l, nil, false
	}
	// A category may belong to a location that is not the key's.
	s.view.Open(s.business, everywhere, now)
	defer s.view.Close()
	m, err := s.read(locationID)
	return l, m, err == nil
}

// read reads the menu of a location that is there. The view is open, sees every location,
// and afterwards this one alone.
func (s *menus) read(locationID string) (*Menu, error) {
	all := rows.Listing{Tombstones: true, Limit: math.MaxInt}
	var rows [][]byte
	collect := func(write func(out []byte) []byte) { rows = append(rows, write(nil)) }
	s.view.Categories(all, collect)
	categories := len(rows)
	if err := s.view.Narrow(locationID); err != nil {
		return nil, err
	}
	s.view.Products(all, nil, nil, collect)
	made := sha256.Sum256(bytes.Join(rows, []byte{'\n'}))
	if m := s.made[locationID]; m != nil && m.made == made {
		return m, nil
	}
	m := newMenu(locationID, rows[:categories], rows[categories:])
	m.made = made
	s.made[locationID] = m
	return m, nil
}
