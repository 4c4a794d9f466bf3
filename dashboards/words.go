package dashboards

import (
	"maps"
	"slices"
)

// sharedTexts are the headings and words that mean the same on every dashboard.
var sharedTexts = texts{
	"empty": {"Nimic în perioada aleasă", "Nothing in the chosen period"},

	"var.datasource": {"Sursa de date", "Data source"},
	"var.restaurant": {"Restaurant", "Restaurant"},
	"var.location":   {"Locație", "Location"},
	"var.source":     {"Sursă", "Source"},
	"var.all":        {"Toate", "All"},

	"range.today":      {"Azi", "Today"},
	"range.yesterday":  {"Ieri", "Yesterday"},
	"range.week":       {"Săptămâna aceasta", "This week"},
	"range.days28":     {"Ultimele 4 săptămâni", "The last 4 weeks"},
	"range.month":      {"Luna aceasta", "This month"},
	"range.last_month": {"Luna trecută", "Last month"},
	"range.days92":     {"Ultimele 92 de zile", "The last 92 days"},
	"range.year":       {"Anul acesta", "This year"},

	"link.language":      {"English", "Română"},
	"link.sales":         {"Vânzări", "Sales"},
	"link.products":      {"Produse", "Products"},
	"link.stock":         {"Stocuri", "Stock"},
	"link.cash-up":       {"Închiderea zilei", "Cash-up"},
	"link.online-orders": {"Comenzi online", "Online orders"},
	"link.mirror":        {"Oglinda datelor", "Mirror"},
	"link.larder":        {"Programul Larder", "Larder"},

	"average_order":        {"Bon mediu", "Average ticket"},
	"column.net_sales":     {"Vânzări", "Sales"},
	"column.quantity":      {"Cant.", "Qty"},
	"column.share":         {"%", "%"},
	"column.average_order": {"Medie", "Average"},

	"category":       {"Categorie", "Category"},
	"date":           {"Ziua", "Day"},
	"ingredient":     {"Ingredient", "Ingredient"},
	"location":       {"Locația", "Location"},
	"location_value": {"Locația", "Location"},
	"day_begins":     {"De la", "From"},
	"day_ends":       {"Până la", "To"},
	"net_sales":      {"Vânzări nete", "Net sales"},
	"orders":         {"Bonuri", "Orders"},
	"product":        {"Produs", "Product"},
	"quantity":       {"Cantitate", "Quantity"},
	"refunds":        {"Rambursări", "Refunds"},
	"restaurant":     {"Restaurant", "Restaurant"},
	"share":          {"Pondere", "Share"},
	"source":         {"Sursă", "Source"},
	"stream":         {"Listă", "Stream"},
	"time":           {"Timp", "Time"},
	"tips":           {"Bacșiș", "Tips"},
	"unit":           {"U.M.", "Unit"},
	"verdict":        {"Stare", "Verdict"},
}

// word is what stands for a value of the warehouse, and its colour when that says something.
type word struct {
	text
	color string
}

// Values of the warehouse that people see in words of their own. What the service adds
// later shows as it is.
var words = map[string]map[string]word{
	"method": {
		"cash":            {text: text{"Numerar", "Cash"}},
		"card":            {text: text{"Card", "Card"}},
		"card_at_counter": {text: text{"Card la casă", "Card at the counter"}},
		"online":          {text: text{"Plată online", "Online"}},
		"voucher":         {text: text{"Tichete", "Vouchers"}},
		"protocol":        {text: text{"Protocol", "On the house"}},
		"other":           {text: text{"Alte plăți", "Other"}},
	},
	"channel": {
		"pos":        {text: text{"La casă", "Till"}},
		"platform_a": {text: text{"Platforma A", "Platform A"}},
		"platform_b": {text: text{"Platforma B", "Platform B"}},
		"direct":     {text: text{"Comenzi online proprii", "Own online orders"}},
	},
	"type": {
		"dine_in":  {text: text{"În local", "Dine in"}},
		"takeaway": {text: text{"La pachet", "Takeaway"}},
		"delivery": {text: text{"Livrare", "Delivery"}},
	},
	"reason": {
		"cancelled": {text: text{"Anulate", "Cancelled"}},
		"unpaid":    {text: text{"Neachitate", "Not paid"}},
		"deleted":   {text: text{"Șterse", "Deleted"}},
		"gone":      {text: text{"Dispărute din listă", "Vanished"}},
	},
	"order_status": {
		"received":  {text{"Așteaptă răspuns", "Not answered yet"}, "orange"},
		"accepted":  {text{"Acceptată", "Accepted"}, "blue"},
		"ready":     {text{"Gata", "Ready"}, "green"},
		"completed": {text{"Finalizată", "Completed"}, "green"},
		"rejected":  {text{"Respinsă", "Rejected"}, "red"},
		"cancelled": {text{"Anulată", "Cancelled"}, "red"},
	},
	"lost": {
		"no_response":       {text{"Fără răspuns la timp", "Not answered in time"}, "red"},
		"items_unavailable": {text{"Respinse: epuizat", "Rejected: sold out"}, "text"},
		"closing_soon":      {text{"Respinse: se închide", "Rejected: closing soon"}, "text"},
		"other":             {text{"Respinse: alt motiv", "Rejected: other reason"}, "text"},
		"by_customer":       {text{"Anulate de client", "Cancelled by the guest"}, "text"},
		"by_restaurant":     {text{"Anulate de restaurant", "Cancelled by the restaurant"}, "text"},
		"by_nobody":         {text{"Anulate", "Cancelled"}, "text"},
	},
	"menu_change": {
		"added":    {text{"Adăugat", "Added"}, "green"},
		"removed":  {text{"Scos", "Taken off"}, "red"},
		"price":    {text{"Preț", "Price"}, "blue"},
		"sold_out": {text{"Epuizat", "Sold out"}, "orange"},
		"back":     {text{"Din nou", "Back"}, "green"},
		"other":    {text{"Altceva", "Other"}, "text"},
	},
	"verdict": {
		"proven":    {text{"Dovedit", "Proven"}, "green"},
		"healed":    {text{"Corectat, dovedit", "Repaired, proven"}, "green"},
		"explained": {text{"Explicat, dovedit", "Explained, proven"}, "green"},
		"equal":     {text{"Egal cu serviciul", "Equal"}, "green"},
		"open":      {text{"Zi în curs", "Open"}, "blue"},
		"unsettled": {text{"Încă se mișcă", "Still moving"}, "orange"},
		"unproven":  {text{"Nedovedit", "Not proven"}, "orange"},
		"differs":   {text{"Diferă", "Differs"}, "red"},
		"drift":     {text{"Diferă", "Differs"}, "red"},
		"none":      {text{"Fără vânzări", "No sales"}, "text"},
	},
	"verdict_rank": {
		"0": {text{"Dovedit", "Proven"}, "green"},
		"1": {text{"Zi în curs", "Open"}, "blue"},
		"2": {text{"Nedovedit", "Not proven"}, "orange"},
		"3": {text{"Diferă", "Differs"}, "red"},
	},
	"figure": {
		"net_sales":     {text: text{"Vânzări nete", "Net sales"}},
		"items":         {text: text{"Produse", "Items"}},
		"discounts":     {text: text{"Reduceri", "Discounts"}},
		"delivery_fees": {text: text{"Livrare", "Delivery"}},
		"tips":          {text: text{"Bacșiș", "Tips"}},
		"deposits":      {text: text{"Garanții SGR", "SGR deposits"}},
		"refunds":       {text: text{"Rambursări", "Refunds"}},
	},
	"class": {
		"star":      {text{"Vedetă", "Star"}, "green"},
		"workhorse": {text{"Se cere, aduce puțin", "Popular, earns little"}, "blue"},
		"puzzle":    {text{"Se cere rar, aduce mult", "Rare, earns much"}, "orange"},
		"weak":      {text{"Slab", "Weak"}, "red"},
	},
	"unit": {
		"piece":  {text: text{"buc", "pcs"}},
		"buc":    {text: text{"buc", "pcs"}},
		"portie": {text: text{"porț.", "port."}},
	},
	"health": {
		"up_to_date":    {text{"La zi", "Up to date"}, "green"},
		"starting":      {text{"Pornește", "Starting"}, "blue"},
		"backfill":      {text{"Prima încărcare", "Backfill"}, "blue"},
		"waiting":       {text{"Așteaptă", "Waiting"}, "blue"},
		"refused":       {text{"Cheie refuzată", "Key refused"}, "red"},
		"warehouse":     {text{"Depozitul refuză rânduri", "Warehouse takes no rows"}, "red"},
		"damage":        {text{"Rânduri pierdute în depozit", "Warehouse has lost rows"}, "red"},
		"unserved":      {text{"Serviciul nu răspunde", "Service does not answer"}, "red"},
		"sweep_held":    {text{"Scoateri de confirmat", "Removals to confirm"}, "orange"},
		"drift":         {text{"Zile care diferă", "Days differ"}, "red"},
		"quarantine":    {text{"Rânduri în carantină", "Rows in quarantine"}, "orange"},
		"configuration": {text{"Configurație refuzată", "Configuration refused"}, "orange"},
		"behind":        {text{"Rămasă în urmă", "Behind"}, "orange"},
		"unproven":      {text{"Nedovedită", "Not proven"}, "orange"},
		"stopped":       {text{"Oprită", "Stopped"}, "text"},
		"no_sources":    {text{"Fără surse", "No sources"}, "text"},
	},
	"state": {
		"running":      {text{"Merge", "Running"}, "green"},
		"backfill":     {text{"Prima încărcare", "Backfill"}, "blue"},
		"starting":     {text{"Pornește", "Starting"}, "blue"},
		"off":          {text{"Oprit", "Off"}, "text"},
		"failing":      {text{"Eșuează", "Failing"}, "red"},
		"unreachable":  {text{"Nu răspunde", "Unreachable"}, "red"},
		"unauthorized": {text{"Cheie refuzată", "Key refused"}, "red"},
		"key_disabled": {text{"Cheie oprită", "Key disabled"}, "red"},
		"api_disabled": {text{"API oprit", "API disabled"}, "orange"},
		"forbidden":    {text{"Fără drept", "Forbidden"}, "orange"},
	},
}

// mappings are Grafana's value mappings of one or more sets of words.
func mappings(language string, sets ...string) []any {
	options := object{}
	index := 0
	for _, set := range sets {
		for _, value := range slices.Sorted(maps.Keys(words[set])) {
			w := words[set][value]
			option := object{"text": w.in(language), "index": index}
			if w.color != "" {
				option["color"] = w.color
			}
			options[value] = option
			index++
		}
	}
	return []any{object{"type": "value", "options": options}}
}
