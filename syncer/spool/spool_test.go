package spool

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"testing"
)

func fill(t *testing.T, s *Set, texts []string) {
	t.Helper()
	for _, text := range texts {
		if err := s.Add(text); err != nil {
			t.Fatal(err)
		}
	}
}

func all(t *testing.T, s *Set) []string {
	t.Helper()
	r, err := s.Sorted()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for {
		text, more, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			return out
		}
		out = append(out, text)
	}
}

func TestReadsEachTextOnceInOrder(t *testing.T) {
	for _, limit := range []int{1, 100, 3000, 1 << 20} {
		random := rand.New(rand.NewPCG(1, uint64(limit)))
		texts := []string{"", "a", "a\x00", "\xff", "ș", "A", "a"}
		for range 2000 {
			texts = append(texts, fmt.Sprint(random.IntN(1500)))
		}
		s := New(t.TempDir(), limit)
		fill(t, s, texts)
		want := slices.Compact(slices.Sorted(slices.Values(texts)))
		if got := all(t, s); !slices.Equal(got, want) {
			t.Errorf("limit %d: %d texts, want %d", limit, len(got), len(want))
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestHas(t *testing.T) {
	s := New(t.TempDir(), 80)
	defer s.Close()
	fill(t, s, []string{"d", "b", "b", "a", "f"})
	r, err := s.Sorted()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text string
		want bool
	}{{"", false}, {"a", true}, {"a", true}, {"b", true}, {"c", false}, {"e", false}, {"f", true}, {"g", false}} {
		if got, err := r.Has(c.text); got != c.want || err != nil {
			t.Errorf("Has(%q) = %v, %v", c.text, got, err)
		}
	}
	if n, err := r.Rest(); n != 4 || err != nil {
		t.Errorf("%d texts, %v", n, err)
	}
}

// A million ids of 30 bytes would be 60 MB in memory.
func TestMemoryIsBounded(t *testing.T) {
	s := New(t.TempDir(), 1<<20)
	defer s.Close()
	before, most := heapInUse(), uint64(0)
	const n = 1_000_000
	for i := range n {
		if err := s.Add(fmt.Sprintf("order_%024d", uint64(i)*0x9E3779B97F4A7C15>>20)); err != nil {
			t.Fatal(err)
		}
		if i%100_000 == 0 {
			most = max(most, heapInUse())
		}
	}
	if s.bytes > s.limit {
		t.Errorf("%d bytes are held, %d are allowed", s.bytes, s.limit)
	}
	r, err := s.Sorted()
	if err != nil {
		t.Fatal(err)
	}
	most = max(most, heapInUse())
	if got, err := r.Rest(); got != n || err != nil {
		t.Errorf("%d texts, %v", got, err)
	}
	if grown := int64(most) - int64(before); grown > 8<<20 {
		t.Errorf("the heap has grown by %d bytes", grown)
	}
}

func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Nothing is left in the folder, even while the file is in use.
func TestTheFileHasNoName(t *testing.T) {
	dir := t.TempDir()
	s := New(dir, 10)
	fill(t, s, []string{"a", "b", "c"})
	if s.file == nil {
		t.Fatal("nothing was written to a file")
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
	file := s.file
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := file.Close(); err == nil {
		t.Error("the file was open after Close")
	}
	if err := s.Close(); err != nil {
		t.Errorf("closed twice: %v", err)
	}
}

func TestNoFolder(t *testing.T) {
	s := New(t.TempDir()+"/none", 10)
	defer s.Close()
	fill(t, s, []string{"a"})
	if err := s.Add("b"); err == nil {
		t.Error("no error where there is no folder")
	}
}
