// The client commands, one file each. All take plain options and a session, and return the exit code.
#pragma once

#include <functional>
#include <string>

#include "base/fwd.h"
#include "cli/options.h"

namespace fairlead::cli {

struct Connection;
struct Session;
struct Terminal;

int run_apply(const ApplyOptions& options, Session& session);
int run_get(const GetOptions& options, Session& session);
int run_describe(const DescribeOptions& options, Session& session);
int run_delete(const DeleteOptions& options, Session& session);
int run_watch(const WatchOptions& options, Session& session);
int run_wait(const WaitOptions& options, Session& session);
// 0: done, or nothing to do; 1: a move failed, or a route was not served in time.
int run_rebalance(const RebalanceOptions& options, Session& session);
int run_explain(const ExplainOptions& options, Session& session);
// The planner on two files; asks no server. 0: nothing to change, 2: changes, 1: failed.
int run_plan_files(const PlanOptions& options, Terminal& terminal);
// The plans of zones at other providers, asked of the server. Exit codes as run_plan_files.
int run_plan(const PlanOptions& options, Session& session);
int run_plan_approve(const PlanApproveOptions& options, Session& session);
// Exit codes of a dry run as run_plan_files; else 0 when the zone's spec says so now.
int run_ownership(const OwnershipOptions& options, Session& session);
int run_zone_export(const ZoneExportOptions& options, Session& session);
// Prints the client's own version before the server is asked, so that it shows without one.
int show_client_version(const VersionOptions& options, Terminal& terminal);
int run_version(const VersionOptions& options, Session& session);
// `connection` for the kubeconfig that it may write.
int run_token_create(const TokenCreateOptions& options, Session& session, const Connection& connection, Random& random);
int run_token_list(const TokenListOptions& options, Session& session);
int run_token_revoke(const TokenRevokeOptions& options, Session& session);

}  // namespace fairlead::cli
