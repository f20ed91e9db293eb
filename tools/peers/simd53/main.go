// Command simd53 is an application of release v0.53.4 with the modules that a wallet and a small chain need: the release's
// own one is a module of its own that the Go module proxy does not serve. PEER_PREFIX sets the bech32 prefix.
package main

import (
	"fmt"
	"io"
	"os"

	"cosmossdk.io/client/v2/autocli"
	"cosmossdk.io/core/address"
	"cosmossdk.io/depinject"
	"cosmossdk.io/log"
	_ "cosmossdk.io/x/evidence"
	_ "cosmossdk.io/x/feegrant/module"
	cmtconfig "github.com/cometbft/cometbft/config"
	dbm "github.com/cosmos/cosmos-db"
	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/client/config"
	"github.com/cosmos/cosmos-sdk/client/keys"
	"github.com/cosmos/cosmos-sdk/codec"
	addresscodec "github.com/cosmos/cosmos-sdk/codec/address"
	codectypes "github.com/cosmos/cosmos-sdk/codec/types"
	"github.com/cosmos/cosmos-sdk/runtime"
	"github.com/cosmos/cosmos-sdk/server"
	servercmd "github.com/cosmos/cosmos-sdk/server/cmd"
	serverconfig "github.com/cosmos/cosmos-sdk/server/config"
	servertypes "github.com/cosmos/cosmos-sdk/server/types"
	app "github.com/cosmos/cosmos-sdk/testutil/configurator"
	simtestutil "github.com/cosmos/cosmos-sdk/testutil/sims"
	"github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/types/module"
	_ "github.com/cosmos/cosmos-sdk/x/auth"
	auth "github.com/cosmos/cosmos-sdk/x/auth/client/cli"
	_ "github.com/cosmos/cosmos-sdk/x/auth/tx/config"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	_ "github.com/cosmos/cosmos-sdk/x/auth/vesting"
	_ "github.com/cosmos/cosmos-sdk/x/authz/module"
	_ "github.com/cosmos/cosmos-sdk/x/bank"
	_ "github.com/cosmos/cosmos-sdk/x/consensus"
	_ "github.com/cosmos/cosmos-sdk/x/distribution"
	"github.com/cosmos/cosmos-sdk/x/genutil"
	genesis "github.com/cosmos/cosmos-sdk/x/genutil/client/cli"
	genutiltypes "github.com/cosmos/cosmos-sdk/x/genutil/types"
	_ "github.com/cosmos/cosmos-sdk/x/gov"
	_ "github.com/cosmos/cosmos-sdk/x/mint"
	_ "github.com/cosmos/cosmos-sdk/x/params"
	_ "github.com/cosmos/cosmos-sdk/x/slashing"
	_ "github.com/cosmos/cosmos-sdk/x/staking"
	"github.com/spf13/cobra"
)

var home = os.ExpandEnv("$HOME/.simapp")

// The bech32 prefix stands in a global for keys and in codecs for modules.
func network() depinject.Config {
	prefix := "cosmos"
	if p := os.Getenv("PEER_PREFIX"); p != "" {
		prefix = p
	}
	global := types.GetConfig()
	global.SetBech32PrefixForAccount(prefix, prefix+"pub")
	global.SetBech32PrefixForValidator(prefix+"valoper", prefix+"valoperpub")
	global.SetBech32PrefixForConsensusNode(prefix+"valcons", prefix+"valconspub")
	return depinject.Supply(
		func() address.Codec { return addresscodec.NewBech32Codec(prefix) },
		func() runtime.ValidatorAddressCodec { return addresscodec.NewBech32Codec(prefix + "valoper") },
		func() runtime.ConsensusAddressCodec { return addresscodec.NewBech32Codec(prefix + "valcons") },
	)
}

func modules(logger log.Logger, options servertypes.AppOptions) depinject.Config {
	return depinject.Configs(
		app.NewAppConfig(app.ParamsModule(), app.AuthModule(), app.BankModule(), app.StakingModule(), app.SlashingModule(),
			app.TxModule(), app.GenutilModule(), app.DistributionModule(), app.MintModule(), app.GovModule(),
			app.ConsensusModule(), app.EvidenceModule(), app.AuthzModule(), app.FeegrantModule(), app.VestingModule()),
		network(),
		depinject.Supply(logger, options, map[string]module.AppModuleBasic{
			genutiltypes.ModuleName: genutil.NewAppModuleBasic(genutiltypes.DefaultMessageValidator),
		}),
	)
}

func inject(config depinject.Config, outputs ...any) {
	if err := depinject.Inject(config, outputs...); err != nil {
		panic(err)
	}
}

func newApp(logger log.Logger, db dbm.DB, trace io.Writer, options servertypes.AppOptions) servertypes.Application {
	var builder *runtime.AppBuilder
	inject(modules(logger, options), &builder)
	built := builder.Build(db, trace, server.DefaultBaseappOptions(options)...)
	if err := built.Load(true); err != nil {
		panic(err)
	}
	return built
}

func noExport(log.Logger, dbm.DB, io.Writer, int64, bool, []string, servertypes.AppOptions, []string) (servertypes.ExportedApp, error) {
	return servertypes.ExportedApp{}, fmt.Errorf("this peer exports no state")
}

// ClientContext is what commands start from; the injector takes exported functions only.
func ClientContext(cdc codec.Codec, registry codectypes.InterfaceRegistry, tx client.TxConfig, amino *codec.LegacyAmino) (client.Context, error) {
	return config.ReadFromClientConfig(client.Context{}.WithCodec(cdc).WithInterfaceRegistry(registry).WithTxConfig(tx).
		WithLegacyAmino(amino).WithInput(os.Stdin).WithAccountRetriever(authtypes.AccountRetriever{}).WithHomeDir(home).WithViper(""))
}

func group(name string, commands ...*cobra.Command) *cobra.Command {
	parent := &cobra.Command{Use: name, RunE: client.ValidateCmd}
	parent.AddCommand(commands...)
	return parent
}

func rootCommand() *cobra.Command {
	var (
		commands autocli.AppOptions
		basics   module.BasicManager
		context  client.Context
	)
	inject(depinject.Configs(modules(log.NewNopLogger(), simtestutil.NewAppOptionsWithFlagHome(home)), depinject.Provide(ClientContext)),
		&commands, &basics, &context)
	root := &cobra.Command{Use: "simd", SilenceErrors: true, SilenceUsage: true}
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		cmd.SetOut(cmd.OutOrStdout())
		own, err := client.ReadPersistentCommandFlags(context.WithCmdContext(cmd.Context()), cmd.Flags())
		if err != nil {
			return err
		}
		if own, err = config.ReadFromClientConfig(own); err != nil {
			return err
		}
		if err := client.SetCmdClientContextHandler(own, cmd); err != nil {
			return err
		}
		settings := serverconfig.DefaultConfig()
		settings.MinGasPrices = "0stake"
		return server.InterceptConfigsPreRunHandler(cmd, serverconfig.DefaultConfigTemplate, settings, cmtconfig.DefaultConfig())
	}
	server.AddCommands(root, home, newApp, noExport, func(*cobra.Command) {})
	root.AddCommand(genesis.InitCmd(basics, home), genesis.Commands(context.TxConfig, basics, home), server.StatusCommand(), keys.Commands(),
		group("query", auth.QueryTxCmd(), auth.QueryTxsByEventsCmd(), server.QueryBlockCmd()),
		group("tx", auth.GetSignCommand(), auth.GetSignBatchCommand(), auth.GetMultiSignCommand(), auth.GetMultiSignBatchCmd(),
			auth.GetValidateSignaturesCommand(), auth.GetBroadcastCommand(), auth.GetEncodeCommand(), auth.GetDecodeCommand(), auth.GetSimulateCmd()))
	if err := commands.EnhanceRootCommand(root); err != nil {
		panic(err)
	}
	return root
}

func main() {
	if err := servercmd.Execute(rootCommand(), "", home); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
