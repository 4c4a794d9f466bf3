package syncer

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
)

func TestShardsShareTheSources(t *testing.T) {
	moved, counts := 0, make([]int, 4)
	for i := range 1000 {
		name, owners := fmt.Sprintf("source%d", i), 0
		for index := range 4 {
			if (Shard{Index: index, Count: 4}).Takes(name) {
				owners++
				counts[index]++
				if index < 3 && !(Shard{Index: index, Count: 3}).Takes(name) {
					moved++
				}
			}
		}
		if owners != 1 {
			t.Fatalf("%s has %d owners", name, owners)
		}
	}
	if moved != 0 {
		t.Errorf("%d sources moved between the shards that stayed", moved)
	}
	for index, n := range counts {
		if n < 180 || n > 320 {
			t.Errorf("shard %d takes %d of 1000", index, n)
		}
	}
}

// The sources of one restaurant go to the process of the first of their names; others stay.
func TestTheSourcesOfARestaurantHaveOneShard(t *testing.T) {
	y := &Syncer{}
	y.mirrored.Store(&map[string]string{"c": "b1", "b": "b1", "d": "b2", "a": "b3", "gone": "b2"})
	var sources []Source
	for _, name := range []string{"d", "c", "b", "e"} {
		sources = append(sources, Source{Name: name})
	}
	want := map[string]string{"b": "b", "c": "b", "d": "d", "e": "e"}
	if got := y.shardNames(sources); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Two keys of one restaurant whose names hash to two processes: when its identity is stored,
// one process serves both, and again after restarts.
func TestSourcesOfOneRestaurantMeetInOneProcess(t *testing.T) {
	inPair(t, sandbox.Options{Seed: 8, Orders: 300}, func(t *testing.T, p *pair) {
		first, second := "", ""
		for i := 0; second == ""; i++ {
			name := fmt.Sprintf("r%03d", i)
			switch mine := (Shard{Index: 0, Count: 2}).Takes(name); {
			case mine && first == "":
				first = name
			case !mine && first != "":
				second = name
			}
		}
		sources := []Source{sourceOf(second, p.box.Key(0, sandbox.RoleLimited).Value), sourceOf(first, p.box.Key(0, sandbox.RoleMain).Value)}
		p.a.tune = func(o *Options) { o.Shard = Shard{Index: 0, Count: 2} }
		p.b.tune = func(o *Options) { o.Shard = Shard{Index: 1, Count: 2} }
		names := func(w *world) []string { return slices.Sorted(slices.Values(namesOf(w.syncer.supervisors()))) }
		p.a.run(slices.Clone(sources)...)
		p.b.run(slices.Clone(sources)...)
		if a, b := names(p.a), names(p.b); !slices.Equal(a, []string{first}) || !slices.Equal(b, []string{second}) {
			t.Errorf("of a new warehouse they have %q and %q", a, b)
		}
		p.a.until("it serves both", 10*time.Minute, func() bool {
			return slices.Equal(names(p.a), []string{first, second}) && p.a.serves() && len(names(p.b)) == 0
		})
		p.a.until("mirrored", time.Hour, p.a.filled)
		for range 2 {
			p.a.halt()
			time.Sleep(time.Minute)
			p.a.run(slices.Clone(sources)...)
			p.a.until("it serves both again", 2*time.Minute, func() bool { return len(names(p.a)) == 2 && p.a.serves() })
			p.b.halt()
			p.b.run(slices.Clone(sources)...)
			time.Sleep(3 * time.Minute)
			if n := len(names(p.b)); n > 0 {
				t.Errorf("the other has %d sources", n)
			}
		}
		p.a.apply(sources[:1]...) // without the first of them the second is assigned by its own name
		p.b.apply(sources[:1]...)
		p.b.until("it has its own again", 2*time.Minute, func() bool { return len(names(p.b)) == 1 && p.b.serves() })
	})
}
