#include "cli/common_flags.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>

#include "base/text.h"
#include "cli/options.h"

namespace fairlead::cli {

std::string check_duration(const std::string& text) {
    return parse_duration(text) ? std::string() : fmt::format("\"{}\" is no duration like 30s, 5m or 1h30m", text);
}

std::string check_ttl(const std::string& text) {
    const auto ttl = parse_duration(text);
    if (ttl && *ttl >= std::chrono::seconds(1) && *ttl <= std::chrono::hours(8784)) return {};
    return fmt::format("\"{}\" is no duration from 1s to 8784h: a token lasts at most 366 days", text);
}

std::string check_not_empty(const std::string& text) { return text.empty() ? "it is empty" : ""; }

void add_connection(CLI::App& command, ConnectionOptions& options, bool with_namespace) {
    command.add_option("--kubeconfig", options.kubeconfig,
                       "Kubeconfig file (else $KUBECONFIG, else that of the data dir)");
    command.add_option("--context", options.context, "Context of the kubeconfig");
    command.add_option("--data-dir", options.data_dir, "Data dir of the server, whose admin.kubeconfig is used");
    command
        .add_option_function<std::string>(
            "--request-timeout",
            [&options](const std::string& text) { options.request_timeout = *parse_duration(text); },
            "How long one request may take (default 1m)")
        ->check(check_duration);
    if (with_namespace)
        command.add_option("-n,--namespace", options.name_space, "Namespace (else that of the context)");
}

void add_selection(CLI::App& command, Selection& selection, bool required) {
    auto* what = command.add_option("what", selection.arguments, "TYPE[,TYPE] [NAME...], or TYPE/NAME...");
    if (required) what->required();
    command.add_option("-l,--selector", selection.labels, "Label selector: app=shop,tier in (a,b),!old");
    command.add_option("--field-selector", selection.fields, "Field selector: metadata.name=shop");
    command.add_flag("-A,--all-namespaces", selection.all_namespaces, "In all namespaces");
}

}  // namespace fairlead::cli
