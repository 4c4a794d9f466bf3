package catalogue

import (
	"slices"

	"github.com/larder-sync/larder/internal/api/types"
)

// The dishes that menus are drawn from. Prices are in lei, in the middle of what
// a restaurant in Romania asks.

type dishKind int

const (
	plain dishKind = iota
	byWeight
	pizza
	coffee
	bottle // with a deposit (SGR)
	draught
	grill
)

type dish struct {
	name      string
	lei       float64
	kind      dishKind
	diet      string // vegetarian, vegan or none
	allergens string // indexes into allergens, one character each
}

type dishGroup struct {
	category string
	station  string
	vat      int // basis points
	dishes   []dish
}

var dishGroups = []dishGroup{
	{"Ciorbe și supe", "kitchen", 1100, []dish{
		{"Ciorbă de burtă", 27, plain, "", "gb"}, {"Ciorbă rădăuțeană", 25, plain, "", "bg"}, {"Ciorbă de perișoare", 24, plain, "", "bi"},
		{"Ciorbă de fasole în pâine", 29, plain, "", "a"}, {"Ciorbă de legume", 19, plain, "vegan", "i"}, {"Supă de pui cu tăiței", 20, plain, "", "abi"},
		{"Supă cremă de dovleac", 21, plain, "vegetarian", "g"}, {"Borș de pește", 31, plain, "", "di"}, {"Ciorbă țărănească de văcuță", 26, plain, "", "i"}}},
	{"Gustări", "kitchen", 1100, []dish{
		{"Salată de vinete", 22, plain, "vegetarian", "b"}, {"Zacuscă de casă", 18, plain, "vegan", ""}, {"Icre de crap", 24, plain, "", "d"},
		{"Platou țărănesc", 69, plain, "", "abg"}, {"Jumări cu ceapă roșie", 23, plain, "", ""}, {"Telemea cu roșii", 21, plain, "vegetarian", "g"},
		{"Bruschete cu roșii", 19, plain, "vegan", "a"}, {"Cașcaval pane", 26, plain, "vegetarian", "abg"}, {"Fasole bătută", 17, plain, "vegan", ""}}},
	{"Preparate tradiționale", "kitchen", 1100, []dish{
		{"Sarmale cu mămăligă", 39, plain, "", "g"}, {"Sarmale de post", 33, plain, "vegan", ""}, {"Tochitură moldovenească", 45, plain, "", "bg"},
		{"Mămăligă cu brânză și smântână", 28, plain, "vegetarian", "g"}, {"Bulz ciobănesc", 34, plain, "", "bg"}, {"Ciolan afumat cu iahnie", 56, plain, "", ""},
		{"Tocăniță de hribi", 38, plain, "vegetarian", "g"}, {"Varză călită cu ciolan", 44, plain, "", ""}, {"Ostropel de pui", 37, plain, "", ""},
		{"Pomana porcului", 52, plain, "", "g"}, {"Musaca de cartofi", 35, plain, "", "abg"}, {"Drob de miel", 41, byWeight, "", "b"}}},
	{"Grătar", "grill", 1100, []dish{
		{"Mici (bucata)", 7.5, grill, "", ""}, {"Porție de mici cu muștar", 31, grill, "", "k"}, {"Ceafă de porc", 36, grill, "", ""},
		{"Antricot de vită maturat", 219, byWeight, "", ""}, {"Păstrăv la grătar", 119, byWeight, "", "d"}, {"Pulpe de pui dezosate", 33, grill, "", ""},
		{"Mușchi de vită", 89, grill, "", ""}, {"Cârnați de casă", 33, grill, "", ""}, {"Piept de pui la grătar", 34, grill, "", ""},
		{"Doradă la grătar", 149, byWeight, "", "d"}, {"Frigărui asortate", 42, grill, "", ""}, {"Cotlet de berbecuț", 179, byWeight, "", ""}}},
	{"Salate", "kitchen", 1100, []dish{
		{"Salată de varză", 12, plain, "vegan", ""}, {"Salată asortată de vară", 15, plain, "vegan", ""}, {"Salată de murături", 13, plain, "vegan", ""},
		{"Salată bulgărească", 27, plain, "", "bg"}, {"Salată Caesar cu pui", 36, plain, "", "abdg"}, {"Salată de sfeclă cu hrean", 13, plain, "vegan", "l"},
		{"Salată orientală", 22, plain, "vegetarian", "b"}, {"Ardei copți", 16, plain, "vegan", "l"}}},
	{"Paste", "kitchen", 1100, []dish{
		{"Spaghete carbonara", 38, plain, "", "abg"}, {"Spaghete bolognese", 37, plain, "", "agi"}, {"Penne arrabbiata", 33, plain, "vegan", "a"},
		{"Tagliatelle cu hribi", 42, plain, "vegetarian", "abg"}, {"Lasagna de casă", 41, plain, "", "abgi"}}},
	{"Pizza", "pizza", 1100, []dish{
		{"Pizza Margherita", 32, pizza, "vegetarian", "ag"}, {"Pizza Țărănească", 41, pizza, "", "ag"}, {"Pizza Prosciutto e Funghi", 40, pizza, "", "ag"},
		{"Pizza Quattro Formaggi", 43, pizza, "vegetarian", "ag"}, {"Pizza Diavola", 39, pizza, "", "ag"}, {"Pizza cu ton", 40, pizza, "", "adg"}, {"Pizza de post", 34, pizza, "vegan", "a"}}},
	{"Garnituri", "kitchen", 1100, []dish{
		{"Cartofi prăjiți", 14, plain, "vegan", ""}, {"Cartofi țărănești", 16, plain, "vegan", ""}, {"Piure de cartofi", 14, plain, "vegetarian", "g"},
		{"Mămăliguță", 9, plain, "vegan", ""}, {"Orez cu legume", 13, plain, "vegan", ""}, {"Legume la grătar", 19, plain, "vegan", ""}, {"Pâine de casă", 6, plain, "vegan", "a"}}},
	{"Sosuri", "kitchen", 1100, []dish{
		{"Sos de usturoi", 6, plain, "vegetarian", "b"}, {"Mujdei", 6, plain, "vegan", ""}, {"Muștar", 4, plain, "vegan", "k"}, {"Smântână", 6, plain, "vegetarian", "g"}, {"Hrean", 5, plain, "vegan", "l"}}},
	{"Deserturi", "kitchen", 1100, []dish{
		{"Papanași cu smântână și dulceață", 31, plain, "vegetarian", "abg"}, {"Clătite cu gem", 21, plain, "vegetarian", "abg"}, {"Clătite cu ciocolată", 23, plain, "vegetarian", "abg"},
		{"Cozonac cu nucă", 18, plain, "vegetarian", "abgh"}, {"Plăcintă cu mere", 19, plain, "vegan", "a"}, {"Gogoși cu dulceață", 20, plain, "vegetarian", "abg"},
		{"Cremșnit", 22, plain, "vegetarian", "abg"}, {"Înghețată de casă", 17, plain, "vegetarian", "g"}, {"Tort Diplomat (la kilogram)", 129, byWeight, "vegetarian", "abg"}}},
	{"Cafea și ceai", "bar", 1100, []dish{
		{"Espresso", 11, coffee, "vegan", ""}, {"Cappuccino", 15, coffee, "vegetarian", "g"}, {"Caffè latte", 17, coffee, "vegetarian", "g"}, {"Flat white", 18, coffee, "vegetarian", "g"},
		{"Cafea la ibric", 12, plain, "vegan", ""}, {"Ceai de tei", 12, plain, "vegan", ""}, {"Ceai de fructe de pădure", 12, plain, "vegan", ""}, {"Frappé", 19, coffee, "vegetarian", "g"}}},
	{"Răcoritoare", "bar", 2100, []dish{
		{"Apă plată 0,5 l", 9, bottle, "vegan", ""}, {"Apă minerală 0,5 l", 9, bottle, "vegan", ""}, {"Apă minerală 0,75 l", 14, bottle, "vegan", ""}, {"Suc carbogazos cola 0,25 l", 12, bottle, "vegan", ""},
		{"Suc de portocale 0,2 l", 13, bottle, "vegan", ""}, {"Limonadă cu mentă", 19, plain, "vegan", ""}, {"Limonadă cu ghimbir", 21, plain, "vegan", ""}, {"Socată de casă", 17, plain, "vegan", ""}, {"Fresh de portocale", 22, plain, "vegan", ""}}},
	{"Bere", "bar", 2100, []dish{
		{"Bere blondă la halbă", 15, draught, "vegan", "a"}, {"Bere nefiltrată la halbă", 18, draught, "vegan", "a"}, {"Bere blondă 0,5 l", 16, bottle, "vegan", "a"}, {"Bere brună 0,5 l", 18, bottle, "vegan", "a"},
		{"Bere fără alcool 0,33 l", 14, bottle, "vegan", "a"}, {"Bere artizanală IPA 0,33 l", 22, bottle, "vegan", "a"}}},
	{"Vin", "bar", 2100, []dish{
		{"Vinul casei alb", 16, draught, "vegan", "l"}, {"Vinul casei roșu", 16, draught, "vegan", "l"}, {"Fetească Neagră 0,75 l", 95, bottle, "vegan", "l"}, {"Fetească Albă 0,75 l", 85, bottle, "vegan", "l"},
		{"Tămâioasă Românească 0,75 l", 89, bottle, "vegan", "l"}, {"Busuioacă de Bohotin 0,75 l", 92, bottle, "vegan", "l"}, {"Vin fiert cu scorțișoară", 18, plain, "vegan", "l"}}},
	{"Spirtoase", "bar", 2100, []dish{
		{"Țuică de prune 50 ml", 13, plain, "vegan", ""}, {"Pălincă de pere 50 ml", 17, plain, "vegan", ""}, {"Vișinată 50 ml", 14, plain, "vegan", ""}, {"Afinată 50 ml", 14, plain, "vegan", ""}, {"Aperol Spritz", 29, plain, "vegan", "l"}, {"Gin tonic", 31, plain, "vegan", ""}}},
}

// allergens are in the order of the EU's annex; the codes are
// the letters that dishes and ingredients name them by.
var allergens = []types.Allergen{
	{Code: "gluten", Name: "Cereale care conțin gluten"}, {Code: "eggs", Name: "Ouă"}, {Code: "crustaceans", Name: "Crustacee"}, {Code: "fish", Name: "Pește"}, {Code: "peanuts", Name: "Arahide"}, {Code: "soy", Name: "Soia"}, {Code: "milk", Name: "Lapte (inclusiv lactoză)"},
	{Code: "nuts", Name: "Fructe cu coajă"}, {Code: "celery", Name: "Țelină"}, {Code: "sesame", Name: "Semințe de susan"}, {Code: "mustard", Name: "Muștar"}, {Code: "sulphites", Name: "Dioxid de sulf și sulfiți"}, {Code: "lupin", Name: "Lupin"}, {Code: "molluscs", Name: "Moluște"},
}

// Allergens are those of the catalogue.
func Allergens() []types.Allergen { return slices.Clone(allergens) }

// AllergensOf are those of letters.
func AllergensOf(letters string) []types.Allergen {
	var out []types.Allergen
	for _, c := range letters {
		out = append(out, allergens[c-'a'])
	}
	return out
}
