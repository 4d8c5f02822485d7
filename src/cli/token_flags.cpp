#include "cli/token_flags.h"

#include <CLI/CLI.hpp>

#include "base/text.h"
#include "cli/common_flags.h"

namespace fairlead::cli {

void add_token_create_flags(CLI::App& command, TokenCreateOptions& to) {
    command.footer(R"(Examples:
  fairlead token create --user ci --group deployers --ttl 720h
  fairlead token create --user alice -n shop -o kubeconfig > alice.kubeconfig
  fairlead token create --user alice -o json

A token gives its user nothing by itself: bind a role to him or to one of his groups.
Making one takes the right to write Secrets in the namespace fairlead-system and to
impersonate the user and each group.)");
    command.add_option("--user", to.user, "Who the holder of the token is")->required()->check(check_not_empty);
    command.add_option("--group", to.groups, "A group he is in; repeatable")
        ->allow_extra_args(false)
        ->check(check_not_empty);
    command
        .add_option_function<std::string>(
            "--ttl", [&to](const std::string& text) { to.ttl = *parse_duration(text); },
            "How long it lasts (default 24h, at most 8784h: 366 days)")
        ->check(check_ttl);
    command
        .add_option_function<std::string>(
            "-o,--output",
            [&to](const std::string& text) {
                to.output = text == "text"   ? TokenOutput::text
                            : text == "json" ? TokenOutput::json
                                             : TokenOutput::kubeconfig;
            },
            "text (default), json, or kubeconfig: a ready one")
        ->check(CLI::IsMember({"text", "json", "kubeconfig"}));
    add_connection(command, to.connection);
}

}  // namespace fairlead::cli
