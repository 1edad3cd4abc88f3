package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func (p *program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version of this tool", Args: cobra.NoArgs,
		Example: "  latchkey version",
		RunE: does(func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(p.stdout, "latchkey", version())
			return err
		}),
	}
}

// version returns the version of the module, which the go command puts into the program,
// with that of Go and the platform. Without one it says (devel).
func version() string {
	of := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok {
		of = cmp.Or(info.Main.Version, of)
	}
	return fmt.Sprintf("%s (%s, %s/%s)", of, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
