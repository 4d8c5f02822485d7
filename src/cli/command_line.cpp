// The command line: what can be typed, and what runs then. With the files *_flags.cpp the only one that knows CLI11.
#include "cli/command_line.h"

#include <fmt/core.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <condition_variable>
#include <cstdlib>
#include <iostream>
#include <mutex>

#include "base/files.h"
#include "base/random.h"
#include "base/text.h"
#include "cli/command_words.h"
#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/completion.h"
#include "cli/emitter_flags.h"
#include "cli/emitter_options.h"
#include "cli/keepalived_flags.h"
#include "cli/kubeconfig.h"
#include "cli/plan_flags.h"
#include "cli/rebalance_flags.h"
#include "cli/router_flags.h"
#include "cli/router_options.h"
#include "cli/serve_flags.h"
#include "cli/serve_options.h"
#include "cli/session.h"
#include "cli/token_flags.h"
#include "resource/kind.h"

namespace fairlead::cli {
namespace {

constexpr const char* examples = R"(Examples:
  fairlead serve                                run a server on this machine
  fairlead router --router edge                 run an instance of the Router "edge"
  fairlead emitter --nats nats://10.0.0.5:4222  keep gorouters in step with LRPs
  fairlead apply -f examples/                   put manifests into it
  fairlead get routes                           see what there is
  fairlead describe route shop                  see why it is as it is
  fairlead explain shop.example.com --from DE   see which DNS answers a client there gets, and why
  fairlead plan                                 see what would change in zones at other providers
  fairlead plan -f policy.yaml                  see which clients a change of a DNSPolicy would move
  fairlead wait route/shop --for=condition=Ready
  fairlead get --help                           more about one command

Exit codes: 0 done, 1 failed, 2 wrong usage.)";

// Opens the connection, then runs the command; what goes wrong before there is a session is told here.
int with_connection(const ConnectionOptions& options, Terminal& terminal,
                    const std::function<int(Session&, const Connection&)>& command) {
    const auto connection = find_connection(options, terminal);
    if (!connection) {
        terminal.err << "error: " << connection.error().text() << '\n';
        return 1;
    }
    const auto transport = connect(*connection, options.request_timeout);
    Session session(*transport, terminal, connection->name_space, !options.name_space.empty(),
                    connection->kubeconfig.string());
    return command(session, *connection);
}

int with_session(const ConnectionOptions& options, Terminal& terminal, const std::function<int(Session&)>& command) {
    return with_connection(options, terminal, [&](Session& session, const Connection&) { return command(session); });
}

class CommandLine {
public:
    CommandLine(Terminal& terminal, const std::function<int(const ServeOptions&)>& serve,
                const std::function<int(const RouterOptions&)>& router,
                const std::function<int(const EmitterOptions&)>& emitter)
        : terminal_(terminal), serve_(serve), router_(router), emitter_(emitter) {
        app_.set_help_flag("-h,--help", "Show this help");
        app_.require_subcommand(1);
        app_.footer(examples);
        add_serve();
        add_router();
        add_emitter();
        add_apply();
        add_get();
        add_describe();
        add_delete();
        add_watch();
        add_wait();
        add_rebalance();
        add_token();
        add_explain();
        add_zone();
        add_plan();
        add_ownership();
        add_keepalived();
        add_version();
        add_completion();
    }

    int run(std::vector<std::string> arguments) {
        if (arguments.empty()) {
            terminal_.err << app_.help();
            return 2;
        }
        std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
        try {
            app_.parse(arguments);
        } catch (const CLI::CallForHelp& help) {
            if (!app_.remaining(true).empty()) return explain(help);  // of a command that there is not
            return app_.exit(help, terminal_.out, terminal_.err);
        } catch (const CLI::ParseError& error) {
            return explain(error);
        }
        return action_();
    }

private:
    // CLI11 looks for what is missing before it looks at what it does not know, but the unknown word is what went
    // wrong.
    int explain(const CLI::ParseError& error) {
        const auto given = app_.get_subcommands();
        const auto command = given.empty() ? std::string("fairlead") : "fairlead " + given.front()->get_name();
        const auto unknown = app_.remaining(true);
        std::string what = error.what();
        if (!unknown.empty()) {
            const bool option = unknown.front().starts_with('-');
            what = fmt::format("unknown {} \"{}\"",
                               option          ? "option"
                               : given.empty() ? "command"
                                               : "argument",
                               unknown.front());
        }
        terminal_.err << fmt::format("error: {}\nSee `{} --help`.\n", what, command);
        // There, 2 says that there is something to change.
        return command == "fairlead plan" || command == "fairlead ownership" ? 1 : 2;
    }

    CLI::App* add(const std::string& name, const std::string& what, const std::string& footer) {
        auto* command = app_.add_subcommand(name, what);
        command->footer("Examples:\n" + footer);
        return command;
    }

    // The command asks a server.
    template <class Options>
    void in_session(CLI::App& command, const Options& options, int (*verb)(const Options&, Session&)) {
        command.callback([this, &options, verb] {
            action_ = [this, &options, verb] {
                return with_session(options.connection, terminal_,
                                    [&](Session& session) { return verb(options, session); });
            };
        });
    }

    void add_serve();
    void add_router();
    void add_emitter();
    void add_apply();
    void add_get();
    void add_describe();
    void add_delete();
    void add_watch();
    void add_wait();
    void add_rebalance();
    void add_token();
    void add_token_create(CLI::App& token);
    void add_explain();
    void add_zone();
    void add_plan();
    void add_ownership();
    void add_keepalived();
    void add_version();
    void add_completion();

    int run_serve();
    int run_router();
    int run_emitter();
    int run_completion();

    Terminal& terminal_;
    const std::function<int(const ServeOptions&)>& serve_;
    const std::function<int(const RouterOptions&)>& router_;
    const std::function<int(const EmitterOptions&)>& emitter_;
    CLI::App app_{"Fairlead: a control plane for traffic", "fairlead"};
    std::function<int()> action_;

    ServeArguments serve_arguments_;
    RouterArguments router_arguments_;
    EmitterArguments emitter_arguments_;
    ApplyOptions apply_;
    GetOptions get_;
    DescribeOptions describe_;
    DeleteOptions delete_;
    WatchOptions watch_;
    WaitOptions wait_;
    RebalanceOptions rebalance_;
    TokenCreateOptions token_create_;
    TokenListOptions token_list_;
    TokenRevokeOptions token_revoke_;
    ExplainOptions explain_;
    ZoneExportOptions zone_export_;
    PlanOptions plan_;
    PlanApproveOptions plan_approve_;
    OwnershipOptions adopt_, release_, transfer_;
    route::KeepalivedOptions keepalived_;
    VersionOptions version_;
    std::string dry_run_ = "none", validate_ = "strict", get_output_ = "table", watch_output_ = "text";
    std::string explain_output_ = "text";
    std::string cascade_ = "background", version_output_ = "text", shell_;
};

void CommandLine::add_serve() {
    auto* command = add("serve", "Run the server", R"(  fairlead serve
  fairlead serve --data-dir ./state --api-listen 127.0.0.1:0
  fairlead serve --store memory: --apply examples/
  fairlead serve --config fairlead.yaml
  fairlead serve --token-auth-file tokens.csv --audit-log /var/log/fairlead/audit.log
  fairlead serve --dns-listen 0.0.0.0:53 --dns-listen [::]:53 --dns-id fra1

The file of --config is YAML with the names of the options:
  api-listen: 127.0.0.1:7443
  apply: [examples/])");
    add_serve_flags(*command, serve_arguments_);
    command->callback([this] { action_ = [this] { return run_serve(); }; });
}

int CommandLine::run_serve() {
    if (serve_arguments_.config) {
        const auto text = read_file(*serve_arguments_.config);
        auto filled = text ? fill_from_config(serve_arguments_, *text) : fail(text.error());
        if (!filled) {
            const auto prefix = text ? *serve_arguments_.config + ": " : std::string();
            terminal_.err << "error: " << prefix << filled.error().text() << '\n';
            return 2;
        }
    }
    const auto options = serve_options(serve_arguments_, terminal_);
    if (!options) {
        terminal_.err << "error: " << options.error().text() << "\nRun with --help for more information.\n";
        return 2;
    }
    return serve_(*options);
}

void CommandLine::add_router() {
    auto* command = add("router", "Run one instance of a Router: HAProxy, and what keeps it in step", router_examples);
    add_router_flags(*command, router_arguments_);
    add_connection(*command, router_arguments_.connection, false);
    command->callback([this] { action_ = [this] { return run_router(); }; });
}

int CommandLine::run_router() {
    const auto options = router_options(router_arguments_, terminal_);
    if (options) return router_(*options);
    terminal_.err << "error: " << options.error().text() << "\nSee `fairlead router --help`.\n";
    return options.error().code == Errc::invalid ? 2 : 1;
}

void CommandLine::add_emitter() {
    auto* command = add("emitter", "Keep gorouters on NATS in step with LRPs", emitter_examples);
    add_emitter_flags(*command, emitter_arguments_);
    add_connection(*command, emitter_arguments_.connection, false);
    command->callback([this] { action_ = [this] { return run_emitter(); }; });
}

int CommandLine::run_emitter() {
    const auto options = emitter_options(emitter_arguments_, terminal_);
    if (options) return emitter_(*options);
    terminal_.err << "error: " << options.error().text() << "\nSee `fairlead emitter --help`.\n";
    return options.error().code == Errc::invalid ? 2 : 1;
}

void CommandLine::add_apply() {
    auto* command = add("apply", "Create or change objects as manifests say", R"(  fairlead apply -f shop.yaml
  fairlead apply -f manifests/ -f extra.json
  cat shop.yaml | fairlead apply -f -
  fairlead apply -f shop.yaml --dry-run=server)");
    command->add_option("-f,--filename", apply_.files, "File, folder (read recursively) or -; repeatable")
        ->required()
        ->allow_extra_args(false);
    command->add_option("--dry-run", dry_run_, "server: check everything, change nothing")
        ->check(CLI::IsMember({"none", "server"}));
    command->add_option("--validate", validate_, "Unknown fields: strict refuses, warn tells, ignore drops")
        ->check(CLI::IsMember({"strict", "warn", "ignore"}));
    add_connection(*command, apply_.connection);
    command->callback([this] {
        apply_.dry_run = dry_run_ == "server" ? DryRun::server : DryRun::none;
        apply_.validate = validate_ == "strict" ? "Strict" : validate_ == "warn" ? "Warn" : "Ignore";
        action_ = [this] {
            return with_session(apply_.connection, terminal_,
                                [this](Session& session) { return run_apply(apply_, session); });
        };
    });
}

void CommandLine::add_get() {
    auto* command = add("get", "Show objects", R"(  fairlead get routes
  fairlead get route shop -o yaml
  fairlead get routes,routers -A -o wide
  fairlead get routes -l app=shop -w
  fairlead get all)");
    add_selection(*command, get_.selection);
    command->add_option("-o,--output", get_output_, "table (default), wide, yaml, json or name")
        ->check(CLI::IsMember({"table", "wide", "yaml", "json", "name"}));
    command->add_flag("-w,--watch", get_.watch, "Then show changes as they happen");
    command->add_flag("--ignore-not-found", get_.ignore_not_found, "A missing name is no failure");
    command->add_flag("--no-headers", get_.no_headers, "Rows only");
    command->add_flag("--show-managed-fields", get_.show_managed_fields,
                      "With -o yaml or json: also who manages which field");
    add_connection(*command, get_.connection);
    command->callback([this] {
        const std::map<std::string, Output> outputs = {{"table", Output::table},
                                                       {"wide", Output::wide},
                                                       {"yaml", Output::yaml},
                                                       {"json", Output::json},
                                                       {"name", Output::name}};
        get_.output = outputs.at(get_output_);
        action_ = [this] {
            return with_session(get_.connection, terminal_,
                                [this](Session& session) { return run_get(get_, session); });
        };
    });
}

void CommandLine::add_describe() {
    auto* command = add("describe", "Show objects in detail, with their events", R"(  fairlead describe route shop
  fairlead describe route/shop router/edge
  fairlead describe routes -l app=shop)");
    add_selection(*command, describe_.selection);
    add_connection(*command, describe_.connection);
    in_session(*command, describe_, run_describe);
}

void CommandLine::add_delete() {
    auto* command = add("delete", "Delete objects", R"(  fairlead delete route shop
  fairlead delete route/shop router/edge
  fairlead delete routes -l app=shop
  fairlead delete routes --all -n test
  fairlead delete -f manifests/ --ignore-not-found)");
    add_selection(*command, delete_.selection, false);
    command->add_option("-f,--filename", delete_.files, "What these manifests name; file, folder or -; repeatable")
        ->allow_extra_args(false);
    command->add_flag("--all", delete_.all, "All objects of the type in the namespace");
    command->add_flag("--wait,!--no-wait", delete_.wait, "Wait until they are gone (default; --wait=false does not)");
    command
        ->add_option_function<std::string>(
            "--timeout",
            [this](const std::string& text) {
                const auto limit = *parse_duration(text);
                if (limit.count() > 0) delete_.timeout = limit;
            },
            "How long to wait (default 0: as long as it takes)")
        ->check(check_duration);
    command->add_option("--cascade", cascade_, "What they own: background (default), foreground or orphan")
        ->check(CLI::IsMember({"background", "foreground", "orphan"}));
    command->add_flag("--ignore-not-found", delete_.ignore_not_found, "A missing name is no failure");
    add_connection(*command, delete_.connection);
    command->callback([this] {
        delete_.cascade = cascade_ == "background" ? "Background" : cascade_ == "foreground" ? "Foreground" : "Orphan";
        action_ = [this] {
            if (delete_.files.empty() == delete_.selection.arguments.empty()) {
                terminal_.err
                    << "error: say what to delete: TYPE NAME, or -f FILE\nRun with --help for more information.\n";
                return 2;
            }
            return with_session(delete_.connection, terminal_,
                                [this](Session& session) { return run_delete(delete_, session); });
        };
    });
}

void CommandLine::add_watch() {
    auto* command = add("watch", "Show events as they happen, one per line", R"(  fairlead watch routes
  fairlead watch routes -A -l app=shop
  fairlead watch route shop -o json)");
    add_selection(*command, watch_.selection);
    command->add_option("-o,--output", watch_output_, "text (default), or json: the events as the server sends them")
        ->check(CLI::IsMember({"text", "json"}));
    add_connection(*command, watch_.connection);
    command->callback([this] {
        watch_.json = watch_output_ == "json";
        action_ = [this] {
            return with_session(watch_.connection, terminal_,
                                [this](Session& session) { return run_watch(watch_, session); });
        };
    });
}

void CommandLine::add_wait() {
    auto* command =
        add("wait", "Wait until objects are as you want them", R"(  fairlead wait route/shop --for=condition=Ready
  fairlead wait route/shop --for=condition=Admitted=False --timeout=2m
  fairlead wait route shop --for=jsonpath='{.status.phase}'=scheduled
  fairlead wait routes --all --for=delete)");
    add_selection(*command, wait_.selection);
    command->add_option("--for", wait_.condition, "condition=TYPE[=STATUS], delete, or jsonpath={.path}[=VALUE]")
        ->required();
    command->add_flag("--all", wait_.all, "All objects of the type in the namespace");
    command
        ->add_option_function<std::string>(
            "--timeout", [this](const std::string& text) { wait_.timeout = *parse_duration(text); },
            "When to give up (default 30s; 0 looks once)")
        ->check(check_duration);
    add_connection(*command, wait_.connection);
    command->callback([this] {
        action_ = [this] {
            const auto& arguments = wait_.selection.arguments;
            const bool named = arguments.size() > 1 || arguments.front().find('/') != std::string::npos;
            if (!named && !wait_.all && wait_.selection.labels.empty() && wait_.selection.fields.empty()) {
                terminal_.err << "error: name what to wait for, or say -l SELECTOR or --all\n";
                return 2;
            }
            return with_session(wait_.connection, terminal_,
                                [this](Session& session) { return run_wait(wait_, session); });
        };
    });
}

void CommandLine::add_rebalance() {
    auto* command = add("rebalance", "Even out how many Routes each Router has", rebalance_examples);
    add_rebalance_flags(*command, rebalance_);
    add_connection(*command, rebalance_.connection);
    in_session(*command, rebalance_, run_rebalance);
}

void CommandLine::add_token() {
    auto* token = add("token", "Make, list and revoke bearer tokens",
                      R"(  fairlead token create --user ci --group deployers --ttl 720h
  fairlead token create --user alice -o kubeconfig > alice.kubeconfig
  fairlead token list
  fairlead token revoke tk4w9zxq2d)");
    token->require_subcommand(1);
    add_token_create(*token);

    auto* list = token->add_subcommand("list", "Show the tokens: id, user, groups and when they end");
    list->footer("Examples:\n  fairlead token list");
    list->add_flag("--no-headers", token_list_.no_headers, "Rows only");
    add_connection(*list, token_list_.connection, false);
    in_session(*list, token_list_, run_token_list);

    auto* revoke =
        token->add_subcommand("revoke", "End tokens before their time: the next request with one is refused");
    revoke->footer("Examples:\n  fairlead token revoke tk4w9zxq2d");
    revoke->add_option("id", token_revoke_.ids, "The part of a token before its dot, as `token list` shows it")
        ->required();
    add_connection(*revoke, token_revoke_.connection, false);
    in_session(*revoke, token_revoke_, run_token_revoke);
}

void CommandLine::add_token_create(CLI::App& token) {
    auto* create = token.add_subcommand("create", "Make a token for a user and show it once");
    add_token_create_flags(*create, token_create_);
    create->callback([this] {
        action_ = [this] {
            return with_connection(token_create_.connection, terminal_,
                                   [this](Session& session, const Connection& connection) {
                                       SystemRandom random;
                                       return run_token_create(token_create_, session, connection, random);
                                   });
        };
    });
}

void CommandLine::add_explain() {
    auto* command = add("explain", "Show which DNS answers a name gets, how often, and why",
                        R"(  fairlead explain shop.example.com
  fairlead explain shop.example.com --from 192.0.2.1
  fairlead explain shop.example.com --from US-CA --type AAAA
  fairlead explain shop.example.com --from GEO-EU -o json)");
    command->add_option("host", explain_.name, "The name that is asked for")->required();
    command->add_option("--type", explain_.type, "Type of record: A (default), AAAA, CNAME, TXT, ... or ANY");
    command->add_option("--from", explain_.from,
                        "Whom to answer: an IP address, a country (DE), a subdivision (US-CA) or a continent (GEO-EU); "
                        "else somebody at an unknown place");
    command->add_option("-o,--output", explain_output_, "text (default) or json")
        ->check(CLI::IsMember({"text", "json"}));
    add_connection(*command, explain_.connection, false);
    command->callback([this] {
        explain_.json = explain_output_ == "json";
        action_ = [this] {
            return with_session(explain_.connection, terminal_,
                                [this](Session& session) { return run_explain(explain_, session); });
        };
    });
}

void CommandLine::add_zone() {
    auto* zone = add("zone", "Zones as they are served", "  fairlead zone export example.com > example.com.zone");
    zone->require_subcommand(1);
    auto* command = zone->add_subcommand("export", "Print a zone as RFC 1035 text, policies as comments");
    command->footer(R"(Examples:
  fairlead zone export example.com
  fairlead zone export shop -n dns           the zone of the ManagedZone "shop"
  fairlead zone export dns/shop              the same
  fairlead zone export example.com | named-checkzone example.com /dev/stdin)");
    command->add_option("zone", zone_export_.zone, "Domain name, or [NAMESPACE/]NAME of a ManagedZone")->required();
    add_connection(*command, zone_export_.connection);
    in_session(*command, zone_export_, run_zone_export);
}

void CommandLine::add_plan() {
    auto* command = add("plan", "Show what would change in DNS, and why: by the server's next plans, or by manifests",
                        plan_examples);
    add_plan_flags(*command, plan_);
    add_connection(*command, plan_.connection);
    auto* approve = command->add_subcommand("approve", "Let through what a zone holds back");
    approve->footer(std::string("Examples:\n") + plan_approve_examples);
    approve->add_option("digest", plan_approve_.digest, "As `fairlead plan` and status.plan.digest show it")
        ->required()
        ->check(check_not_empty);
    add_connection(*approve, plan_approve_.connection);
    in_session(*approve, plan_approve_, run_plan_approve);
    command->callback([this, approve] {
        if (approve->parsed()) return;  // CLI11 asks both, this one last
        action_ = [this] {
            if (!plan_.present.empty() || !plan_.desired.empty()) return run_plan_files(plan_, terminal_);
            return with_session(plan_.connection, terminal_,
                                [this](Session& session) { return run_plan(plan_, session); });
        };
    });
}

void CommandLine::add_ownership() {
    auto* ownership = add("ownership", "Take over, give up or hand on records at other providers", ownership_examples);
    ownership->require_subcommand(1);
    struct Part {
        const char *name, *kind, *what;
        OwnershipOptions& options;
    };
    const Part parts[] = {{"adopt", "Adopt", "Make records ours that nobody (or --from) owns", adopt_},
                          {"release", "Release", "Make our records nobody's; they stay", release_},
                          {"transfer", "Transfer", "Make our records somebody else's; they stay", transfer_}};
    for (const auto& part : parts) {
        auto* command = ownership->add_subcommand(part.name, part.what);
        command->footer(std::string("Examples:\n") + ownership_examples);
        auto& options = part.options;
        options.kind = part.kind;
        add_ownership_flags(*command, part.name, options);
        add_connection(*command, options.connection);
        command->callback([this, &options] {
            action_ = [this, &options] {
                return with_session(options.connection, terminal_,
                                    [&options](Session& session) { return run_ownership(options, session); });
            };
        });
    }
}

void CommandLine::add_keepalived() {
    auto* command = add("keepalived", "Print keepalived's configuration for an instance of a Router or LoadBalancer",
                        keepalived_examples);
    add_keepalived_flags(*command, keepalived_);
    command->callback([this] { action_ = [this] { return run_keepalived(keepalived_, terminal_); }; });
}

void CommandLine::add_version() {
    auto* command = add("version", "Show the version of this program and of the server", R"(  fairlead version
  fairlead version --client
  fairlead version -o json)");
    command->add_flag("--client", version_.client_only, "Ask no server");
    command->add_option("-o,--output", version_output_, "text (default) or json")
        ->check(CLI::IsMember({"text", "json"}));
    add_connection(*command, version_.connection, false);
    command->callback([this] {
        version_.json = version_output_ == "json";
        action_ = [this] {
            if (version_.client_only) return show_client_version(version_, terminal_);
            bool asked = false;
            const int code = with_session(version_.connection, terminal_, [&](Session& session) {
                asked = true;
                return run_version(version_, session);
            });
            // Nobody is known to ask, which has been said.
            if (!asked) show_client_version(version_, terminal_);
            return code;
        };
    });
}

void CommandLine::add_completion() {
    auto* command = add("completion", "Print the completion script of a shell", R"(  source <(fairlead completion bash)
  source <(fairlead completion zsh)
  fairlead completion fish | source)");
    command->add_option("shell", shell_, "bash, zsh or fish")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish"}));
    command->callback([this] { action_ = [this] { return run_completion(); }; });
}

int CommandLine::run_completion() {
    const auto shell = shell_ == "bash" ? Shell::bash : shell_ == "zsh" ? Shell::zsh : Shell::fish;
    std::vector<std::string> types;
    const auto kinds = resource::make_kinds();
    for (const auto& kind : kinds.all()) types.push_back(kind.plural);
    std::sort(types.begin(), types.end());
    terminal_.out << completion_script(shell, command_words(app_), types);
    return 0;
}

std::string environment(const std::string& name) {
    const char* value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): nobody sets variables
    return value == nullptr ? std::string() : std::string(value);
}

void pause(std::chrono::milliseconds time) {
    std::mutex mutex;
    std::condition_variable never;
    std::unique_lock lock(mutex);
    never.wait_for(lock, time, [] { return false; });
}

Terminal real_terminal(const Clock& clock) {
    const bool colour =
        ::isatty(STDOUT_FILENO) == 1 && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
    return Terminal{std::cin, std::cout, std::cerr, clock, colour, pause, environment};
}

}  // namespace

int run(const std::vector<std::string>& arguments, Terminal& terminal,
        const std::function<int(const ServeOptions&)>& serve, const std::function<int(const RouterOptions&)>& router,
        const std::function<int(const EmitterOptions&)>& emitter) {
    return CommandLine(terminal, serve, router, emitter).run(arguments);
}

int run(int argc, const char* const* argv, const std::function<int(const ServeOptions&)>& serve,
        const std::function<int(const RouterOptions&)>& router,
        const std::function<int(const EmitterOptions&)>& emitter) {
    // A server that goes away while we write to it must be an error, not our end.
    ::signal(SIGPIPE, SIG_IGN);
    const SystemClock clock;
    Terminal terminal = real_terminal(clock);
    return run(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc), terminal, serve, router, emitter);
}

int apply_paths(const std::vector<std::string>& paths, const std::filesystem::path& kubeconfig) {
    const SystemClock clock;
    Terminal terminal = real_terminal(clock);
    ApplyOptions options;
    options.files = paths;
    options.connection.kubeconfig = kubeconfig.string();
    return with_session(options.connection, terminal, [&](Session& session) { return run_apply(options, session); });
}

}  // namespace fairlead::cli
