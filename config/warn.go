package config

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/larder-sync/larder/internal/inbound"
	"github.com/larder-sync/larder/internal/text"
	schedules "github.com/larder-sync/larder/syncer/schedule"
)

// warn collects what is allowed, but unwise or without effect.
func (c *Config) warn() {
	add := func(format string, args ...any) { c.Warnings = append(c.Warnings, fmt.Sprintf(format, args...)) }
	sources := map[string][]string{} // by what is to be said of them: a fleet has it of each
	of := func(s *Source, what string) { sources[what] = append(sources[what], s.Name) }
	takesWebhooks := false
	for i := range c.Sources {
		s := &c.Sources[i]
		takesWebhooks = takesWebhooks || s.Webhook.SecretFile != ""
		if s.Webhook.SecretFile != "" && c.Webhooks.Listen == "" {
			of(s, "webhook.secret_file is set, and no webhooks are taken: webhooks.listen is off")
		}
		if s.Webhook.NextSecretFile != "" && s.Webhook.SecretFile == "" {
			of(s, "webhook.next_secret_file is set, and no webhooks are taken: webhook.secret_file is not")
		}
		if !s.Key.IsZero() && c.origins[s.path+".key"].line > 0 {
			c.secretInside = true
			of(s, "the API key is in the configuration file; key_file or key_env keeps it out of copies")
		}
		if s.PersonalData == "keep" {
			of(s, "personal_data is keep: names, phones and addresses of the people who order online are stored")
		}
		if u, err := url.Parse(s.BaseURL); err == nil && u.Scheme == "http" && !inbound.Loopback(u.Hostname()) {
			of(s, "base_url is http: the API key travels unencrypted")
		}
	}
	for what, names := range sources {
		add("%s %s: %s", text.Verb(len(names), "source", "sources"), strings.Join(text.Few(names), ", "), what)
	}
	if !c.Warehouse.DSN.Password().IsZero() && c.origins["warehouse.dsn"].line > 0 {
		c.secretInside = true
		add("warehouse.dsn: the password is in the configuration file; warehouse.password_file keeps it out of copies")
	}
	if c.Webhooks.Listen != "" && !takesWebhooks {
		add("webhooks.listen is set, and no webhooks are taken: no source has webhook.secret_file")
	}
	if c.Web.Listen != "" && !inbound.OnLoopback(c.Web.Listen) && c.Web.User == "" {
		add("web.listen: %s can be reached by others and asks for no password; set web.user and web.password_file", c.Web.Listen)
	}
	if schedules.Longest(c.Schedule.OnlineOrders) < 5*time.Second {
		add("schedule.online_orders %q: the service asks its clients to poll orders every 15 to 30 seconds, and never faster than every 5 seconds", c.Schedule.OnlineOrders)
	}
	if schedules.Longest(c.Schedule.Snapshots) > 15*time.Minute {
		add("schedule.snapshots %q: the service asks its clients to refresh menus at least every 15 minutes", c.Schedule.Snapshots)
	}
	slices.Sort(c.Warnings)
}
