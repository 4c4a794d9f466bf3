package web

import (
	"fmt"
	"log/slog"
)

// promLog lets promhttp log through slog.
type promLog struct{ *slog.Logger }

func (l promLog) Println(v ...any) { l.Error("gather metrics", "error", fmt.Sprint(v...)) }
