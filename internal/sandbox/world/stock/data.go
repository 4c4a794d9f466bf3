package stock

type stockItem struct {
	name, unit, category, allergens string
	min                             int
}

var stockItems = []stockItem{
	{"Ceafă de porc", "kg", "Carne", "", 10}, {"Carne tocată amestec", "kg", "Carne", "", 12}, {"Piept de pui", "kg", "Carne", "", 10}, {"Mușchi de vită", "kg", "Carne", "", 5}, {"Burtă de vită", "kg", "Carne", "", 6}, {"Ciolan afumat", "kg", "Carne", "", 5}, {"Cârnați", "kg", "Carne", "", 6},
	{"Păstrăv", "kg", "Pește", "d", 4}, {"Doradă", "kg", "Pește", "d", 4}, {"Icre de crap", "kg", "Pește", "d", 1},
	{"Smântână 20%", "l", "Lactate", "g", 8}, {"Telemea", "kg", "Lactate", "g", 5}, {"Mozzarella", "kg", "Lactate", "g", 7}, {"Unt", "kg", "Lactate", "g", 3}, {"Lapte", "l", "Lactate", "g", 10}, {"Ouă", "buc", "Lactate", "b", 90}, {"Cașcaval", "kg", "Lactate", "g", 4},
	{"Cartofi", "kg", "Legume", "", 40}, {"Ceapă", "kg", "Legume", "", 15}, {"Morcovi", "kg", "Legume", "", 8}, {"Varză", "kg", "Legume", "", 15}, {"Roșii", "kg", "Legume", "", 10}, {"Vinete", "kg", "Legume", "", 6}, {"Ardei", "kg", "Legume", "", 6}, {"Usturoi", "kg", "Legume", "", 2}, {"Fasole boabe", "kg", "Legume", "", 5}, {"Hribi", "kg", "Legume", "", 2}, {"Țelină", "kg", "Legume", "i", 3},
	{"Mălai", "kg", "Băcănie", "", 12}, {"Făină", "kg", "Băcănie", "a", 25}, {"Orez", "kg", "Băcănie", "", 8}, {"Ulei", "l", "Băcănie", "", 20}, {"Zahăr", "kg", "Băcănie", "", 6}, {"Sare", "kg", "Băcănie", "", 0}, {"Boia", "g", "Băcănie", "", 500}, {"Paste", "kg", "Băcănie", "a", 6}, {"Muștar", "kg", "Băcănie", "k", 2}, {"Oțet", "l", "Băcănie", "l", 3},
	{"Cafea boabe", "kg", "Bar", "", 4}, {"Apă minerală 0,5 l", "buc", "Bar", "", 48}, {"Apă plată 0,5 l", "buc", "Bar", "", 48}, {"Bere 0,5 l", "buc", "Bar", "a", 60}, {"Vin alb vrac", "l", "Bar", "l", 20}, {"Vin roșu vrac", "l", "Bar", "l", 20}, {"Țuică", "ml", "Bar", "", 2000}, {"Lămâi", "kg", "Bar", "", 4}, {"Sirop de soc", "ml", "Bar", "", 1500},
	{"Aluat de pizza", "portie", "Semipreparate", "a", 20}, {"Sos de roșii", "l", "Semipreparate", "", 6}, {"Mujdei", "ml", "Semipreparate", "", 800}, {"Fond de carne", "l", "Semipreparate", "i", 8}, {"Sarmale crude", "portie", "Semipreparate", "", 30},
}
