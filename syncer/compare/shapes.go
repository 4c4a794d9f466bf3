package compare

// shapes are the rows of api.md, "Resources and their fields": one line for each
// field that has a column, with its kind. A name with [] is an array, one with {a,b}
// an object with open keys, of which api.md names a and b. What is "beside" the row stands
// in no field of it, and is not compared. The fields of /locations that are there in every row
// and those that may be null are not told apart: a field that is not there reads
// as null, and only a column that can hold null equals it.
var shapes = map[string]string{
	"api_keys": `
		app.id                           text id
		app.name                         text
		app.mode                         text
		business.name                    text
		scopes[]                         text
		location_ids[]                   text
		all_locations                    boolean
		rate_limits.per_minute           integer
		rate_limits.business_per_minute  integer
		rate_limits.heavy_per_minute     integer
		rate_limits.orders_per_minute    integer
		webhook.url                      text
		webhook.configured               boolean`,

	"locations": `
		id                               text id
		name                             text
		address                          text
		city                             text
		phone                            text
		timezone                         text
		ordering.accepting               boolean
		ordering.status                  text
		ordering.message                 text
		ordering.paused_until            instant
		ordering.next_opening_at         instant
		ordering.types[]                 text
		ordering.default_prep_minutes    integer
		ordering.answer_within_minutes   integer
		opening_hours.monday.open        text
		opening_hours.monday.close       text
		opening_hours.monday.closed      boolean
		opening_hours.tuesday.open       text
		opening_hours.tuesday.close      text
		opening_hours.tuesday.closed     boolean
		opening_hours.wednesday.open     text
		opening_hours.wednesday.close    text
		opening_hours.wednesday.closed   boolean
		opening_hours.thursday.open      text
		opening_hours.thursday.close     text
		opening_hours.thursday.closed    boolean
		opening_hours.friday.open        text
		opening_hours.friday.close       text
		opening_hours.friday.closed      boolean
		opening_hours.saturday.open      text
		opening_hours.saturday.close     text
		opening_hours.saturday.closed    boolean
		opening_hours.sunday.open        text
		opening_hours.sunday.close       text
		opening_hours.sunday.closed      boolean
		opening_hours.exceptions[].date  day
		opening_hours.exceptions[].closed boolean
		opening_hours.exceptions[].reason text`,

	"allergens": `
		code                             text id
		name                             text`,

	"categories": `
		id                               text id
		location_id                      text
		name                             text
		image_url                        text
		position                         integer
		created_at                       instant
		updated_at                       instant`,

	"products": `
		id                               text id
		location_id                      text
		category_id                      text
		name                             text
		description                      text
		image_url                        text
		price                            money
		unit                             text
		vat_rate                         number
		deposit                          money
		available                        boolean
		allergens[].code                 text
		allergens[].name                 text
		diets[]                          text
		calories                         integer
		prep_minutes                     integer
		station                          text
		channels{online,platform_a,platform_b}.enabled boolean
		channels{online,platform_a,platform_b}.price money
		variants[].id                    text
		variants[].name                  text
		variants[].price                 money
		variants[].price_delta           money
		extra_groups[].id                text
		extra_groups[].name              text
		extra_groups[].min               integer
		extra_groups[].max               integer
		extra_groups[].required          boolean
		extra_groups[].options[].id      text
		extra_groups[].options[].name    text
		extra_groups[].options[].price   money
		position                         integer
		created_at                       instant
		updated_at                       instant`,

	"ingredients": `
		id                               text id
		location_id                      text
		name                             text
		unit                             text
		stock                            quantity
		min_stock                        quantity
		below_min                        boolean
		category.id                      text
		category.name                    text
		warehouse.id                     text
		warehouse.name                   text
		sku                              text
		barcode                          text
		is_prepared                      boolean
		allergens[].code                 text
		allergens[].name                 text
		created_at                       instant
		updated_at                       instant`,

	"sales_orders": `
		id                               text id
		number                           text
		location_id                      text
		channel                          text
		type                             text
		table_id                         text
		business_day                     day
		created_at                       instant
		updated_at                       instant
		paid_at                          instant
		items[].id                       text
		items[].product_id               text
		items[].name                     text
		items[].variant_id               text
		items[].variant_name             text
		items[].quantity                 quantity
		items[].weight_kg                quantity
		items[].price_per_kg             money
		items[].unit_price               money
		items[].extras[].name            text
		items[].extras[].price           money
		items[].discount_percent         number
		items[].vat_rate                 number
		items[].total                    money
		totals.items                     money
		totals.discount                  money
		totals.delivery_fee              money
		totals.tip                       money
		totals.deposit                   money
		totals.total                     money
		totals.net_sales                 money
		payments[].method                text
		payments[].amount                money
		payments[].at                    instant
		refunds[].amount                 money
		refunds[].method                 text
		refunds[].at                     instant
		refunds[].item_id                text`,

	"sales_daily": `
		date                             day
		orders                           integer
		net_sales                        money
		items                            money
		discounts                        money
		delivery_fees                    money
		tips                             money
		deposits                         money
		refunds                          money
		payments{cash,card,card_at_counter,online,voucher,protocol,other} money
		by_type{dine_in,takeaway,delivery} money
		by_channel{pos,platform_a,platform_b,direct} money`,

	"sales_products": `
		date                             day
		product_id                       text
		name                             text
		category_id                      text
		quantity                         quantity
		weight_kg                        quantity
		gross                            money
		line_discounts                   money
		net                              money`,

	"menus": `
		etag                                              beside
		location_id                                       text id
		currency                                          text
		updated_at                                        instant
		categories[].id                                   text
		categories[].name                                 text
		categories[].image_url                            text
		categories[].position                             integer
		categories[].products[].id                        text
		categories[].products[].name                      text
		categories[].products[].description               text
		categories[].products[].image_url                 text
		categories[].products[].price                     money
		categories[].products[].vat_rate                  number
		categories[].products[].available                 boolean
		categories[].products[].allergens[].code          text
		categories[].products[].allergens[].name          text
		categories[].products[].diets[]                   text
		categories[].products[].calories                  integer
		categories[].products[].prep_minutes              integer
		categories[].products[].deposit                   money
		categories[].products[].variants[].id             text
		categories[].products[].variants[].name           text
		categories[].products[].variants[].price          money
		categories[].products[].extra_groups[].id         text
		categories[].products[].extra_groups[].name       text
		categories[].products[].extra_groups[].min        integer
		categories[].products[].extra_groups[].max        integer
		categories[].products[].extra_groups[].required   boolean
		categories[].products[].extra_groups[].options[].id    text
		categories[].products[].extra_groups[].options[].name  text
		categories[].products[].extra_groups[].options[].price money
		categories[].products[].position                  integer`,
}
