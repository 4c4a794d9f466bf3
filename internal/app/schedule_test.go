package app

import (
	"reflect"
	"testing"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/internal/warehouse"
	"github.com/larder-sync/larder/syncer"
)

// A field that were forgotten would take its default, whatever the configuration says.
func TestEveryScheduleReachesTheSyncer(t *testing.T) {
	a := &App{Opener: warehouse.Opener{Config: &config.Config{}}}
	set := reflect.ValueOf(&a.Config.Schedule).Elem()
	for i := range set.NumField() {
		set.Field(i).SetString(set.Type().Field(i).Name)
	}
	got := reflect.ValueOf(a.schedule())
	for i := range got.NumField() {
		if name := got.Type().Field(i).Name; got.Field(i).String() != name {
			t.Errorf("the syncer's %s is %q, want the configuration's", name, got.Field(i))
		}
	}
	for i := range set.NumField() {
		field := set.Type().Field(i)
		if _, there := reflect.TypeFor[syncer.Schedule]().FieldByName(field.Name); !there {
			t.Errorf("schedule.%s is not in the syncer", field.Name)
		}
	}
}
