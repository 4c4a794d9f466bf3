package sandbox

import (
	"fmt"
	"net/http"

	"github.com/larder-sync/larder/internal/sandbox/ordering"
	"github.com/larder-sync/larder/internal/sandbox/units"
)

// The codes of api.md, "Errors", beside those of package ordering; and one for a method
// that an address does not have, of which api.md says nothing.
const (
	codeUnauthorized = "unauthorized"
	codeKeyDisabled  = "api_key_disabled"
	codeAPIDisabled  = "api_disabled"
	codeScope        = "insufficient_scope"
	codeLocation     = ordering.CodeLocationForbidden
	codeNotFound     = ordering.CodeNotFound
	codeMethod       = "method_not_allowed"
	codeBadRequest   = ordering.CodeBadRequest
	codeValidation   = ordering.CodeValidation
	codeNoWebhook    = "webhook_not_configured"
	codeRateLimited  = "rate_limited"
	codeServerError  = "server_error"
	codeUnavailable  = "service_unavailable"
)

type errorText struct {
	status           int
	message, display string
}

var errorTexts = map[string]errorText{
	codeUnauthorized: {http.StatusUnauthorized, "Missing or wrong API key.", "Cheia de acces lipsește sau nu este corectă."},
	codeKeyDisabled:  {http.StatusForbidden, "The restaurant has disabled this API key.", "Cheia de acces a fost dezactivată de restaurant."},
	codeAPIDisabled:  {http.StatusForbidden, "Online ordering is switched off.", "Comenzile online sunt oprite momentan."},
	codeScope:        {http.StatusForbidden, "The API key lacks a scope for this call.", "Cheia de acces nu are dreptul la aceste date."},
	codeLocation:     {http.StatusForbidden, "The API key is limited to other locations.", "Cheia de acces nu are dreptul la această locație."},
	codeNotFound:     {http.StatusNotFound, "Not found.", "Nu am găsit ce ai cerut."},
	codeMethod:       {http.StatusMethodNotAllowed, "This address does not take this method.", "Cererea nu este permisă."},
	codeBadRequest:   {http.StatusBadRequest, "The body is not a JSON object, or larger than 64 KB.", "Cererea nu a putut fi citită."},
	codeNoWebhook:    {http.StatusConflict, "The key has no webhook URL.", "Cheia nu are unde primi notificări."},
	codeValidation:   {http.StatusUnprocessableEntity, "The request is not valid.", "Cererea conține date care nu sunt corecte."},
	codeRateLimited:  {http.StatusTooManyRequests, "Too many requests.", "Prea multe cereri. Încearcă din nou puțin mai târziu."},
	codeServerError:  {http.StatusInternalServerError, "Something went wrong on our side.", "A apărut o eroare. Încearcă din nou mai târziu."},
	codeUnavailable:  {http.StatusServiceUnavailable, "Temporarily unavailable.", "Serviciul nu este disponibil momentan."},

	ordering.CodeLocationUnavailable: {http.StatusConflict, "The location takes no such order now.", "Restaurantul nu primește acum această comandă."},
	ordering.CodeItemsUnavailable:    {http.StatusConflict, "Some items cannot be ordered.", "Unele preparate nu mai pot fi comandate. Verifică meniul."},
	ordering.CodePriceChanged:        {http.StatusConflict, "The total differs from expected_total.", "Prețul s-a schimbat. Verifică totalul și comandă din nou."},
	ordering.CodeCannotCancel:        {http.StatusConflict, "The order cannot be cancelled any more.", "Comanda nu mai poate fi anulată. Sună la restaurant."},
}

// apiError is an answer with the error envelope.
type apiError struct {
	code    string
	details map[string]any
}

// Error is the code, for tests.
func (e *apiError) Error() string { return fmt.Sprintf("%s %v", e.code, e.details) }

func fail(code string) *apiError { return &apiError{code: code} }

// refused is the answer to what the restaurant refuses, nil for nothing.
func refused(r *ordering.Refusal) *apiError {
	if r == nil {
		return nil
	}
	return &apiError{code: r.Code, details: r.Details}
}

// invalid collects what is wrong with a request, by field.
type invalid map[string][]string

func (v invalid) add(field, format string, args ...any) {
	v[field] = append(v[field], fmt.Sprintf(format, args...))
}

// err is nil when nothing is wrong.
func (v invalid) err() *apiError {
	if len(v) == 0 {
		return nil
	}
	return &apiError{code: codeValidation, details: map[string]any{"fields": map[string][]string(v)}}
}

func (e *apiError) body() []byte {
	t := errorTexts[e.code]
	var envelope struct {
		Error struct {
			Code           string         `json:"code"`
			Message        string         `json:"message"`
			DisplayMessage string         `json:"display_message"`
			Details        map[string]any `json:"details"`
		} `json:"error"`
	}
	envelope.Error.Code, envelope.Error.Message, envelope.Error.DisplayMessage = e.code, t.message, t.display
	envelope.Error.Details = e.details
	return units.JSON(envelope)
}
