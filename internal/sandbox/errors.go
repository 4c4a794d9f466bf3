package sandbox

import (
	"net/http"

	"github.com/larder-sync/larder/internal/sandbox/refusal"
	"github.com/larder-sync/larder/internal/sandbox/units"
)

type errorText struct {
	status           int
	message, display string
}

var errorTexts = map[string]errorText{
	refusal.Unauthorized:      {http.StatusUnauthorized, "Missing or wrong API key.", "Cheia de acces lipsește sau nu este corectă."},
	refusal.KeyDisabled:       {http.StatusForbidden, "The restaurant has disabled this API key.", "Cheia de acces a fost dezactivată de restaurant."},
	refusal.APIDisabled:       {http.StatusForbidden, "Online ordering is switched off.", "Comenzile online sunt oprite momentan."},
	refusal.Scope:             {http.StatusForbidden, "The API key lacks a scope for this call.", "Cheia de acces nu are dreptul la aceste date."},
	refusal.LocationForbidden: {http.StatusForbidden, "The API key is limited to other locations.", "Cheia de acces nu are dreptul la această locație."},
	refusal.NotFound:          {http.StatusNotFound, "Not found.", "Nu am găsit ce ai cerut."},
	refusal.Method:            {http.StatusMethodNotAllowed, "This address does not take this method.", "Cererea nu este permisă."},
	refusal.BadRequest:        {http.StatusBadRequest, "The body is not a JSON object, or larger than 64 KB.", "Cererea nu a putut fi citită."},
	refusal.NoWebhook:         {http.StatusConflict, "The key has no webhook URL.", "Cheia nu are unde primi notificări."},
	refusal.Validation:        {http.StatusUnprocessableEntity, "The request is not valid.", "Cererea conține date care nu sunt corecte."},
	refusal.RateLimited:       {http.StatusTooManyRequests, "Too many requests.", "Prea multe cereri. Încearcă din nou puțin mai târziu."},
	refusal.ServerError:       {http.StatusInternalServerError, "Something went wrong on our side.", "A apărut o eroare. Încearcă din nou mai târziu."},
	refusal.Unavailable:       {http.StatusServiceUnavailable, "Temporarily unavailable.", "Serviciul nu este disponibil momentan."},

	refusal.LocationUnavailable: {http.StatusConflict, "The location takes no such order now.", "Restaurantul nu primește acum această comandă."},
	refusal.ItemsUnavailable:    {http.StatusConflict, "Some items cannot be ordered.", "Unele preparate nu mai pot fi comandate. Verifică meniul."},
	refusal.PriceChanged:        {http.StatusConflict, "The total differs from expected_total.", "Prețul s-a schimbat. Verifică totalul și comandă din nou."},
	refusal.CannotCancel:        {http.StatusConflict, "The order cannot be cancelled any more.", "Comanda nu mai poate fi anulată. Sună la restaurant."},
}

// envelope is the body of an error.
func envelope(r *refusal.Refusal) []byte {
	t := errorTexts[r.Code]
	var out struct {
		Error struct {
			Code           string         `json:"code"`
			Message        string         `json:"message"`
			DisplayMessage string         `json:"display_message"`
			Details        map[string]any `json:"details"`
		} `json:"error"`
	}
	out.Error.Code, out.Error.Message, out.Error.DisplayMessage = r.Code, t.message, t.display
	out.Error.Details = r.Details
	return units.JSON(out)
}
