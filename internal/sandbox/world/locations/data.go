package locations

type city struct{ name, prefix string }

var cities = []city{{"București", "021"}, {"Cluj-Napoca", "0264"}, {"Iași", "0232"}, {"Timișoara", "0256"}, {"Brașov", "0268"}, {"Sibiu", "0269"}, {"Constanța", "0241"}, {"Oradea", "0259"}, {"Craiova", "0251"}, {"Suceava", "0230"}}

var streets = []string{"Str. Lipscani", "Calea Victoriei", "Bd. Unirii", "Str. Republicii", "Str. Mihai Eminescu", "Piața Sfatului", "Str. Memorandumului", "Bd. Decebal", "Calea Dorobanților", "Str. Avram Iancu", "Str. Nicolae Bălcescu", "Bd. Ștefan cel Mare"}

var districts = []string{"Centru", "Gară", "Parc", "Piața Mare", "Nord", "Mall", "Cetate", "Universitate", "Lac", "Sud"}
