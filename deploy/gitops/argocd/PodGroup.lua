-- Argo CD's health of a gang: whoever has to do something is told Degraded, whoever has to wait Progressing.
local broken = {
  InvalidSpec = true, QueueNotFound = true, QueueInactive = true, NamespaceNotAllowed = true, ExceedsMaxQuota = true, NeverFits = true,
}
local held = {QueueStopped = true, SchedulingGated = true}

local status = obj.status or {}
local message = status.message or ""
if status.phase == "Running" or status.phase == "Completed" then
  return {status = "Healthy", message = message}
elseif status.phase == "Failed" or broken[status.reason] then
  return {status = "Degraded", message = message}
elseif held[status.reason] then
  return {status = "Suspended", message = message}
elseif status.phase == nil then
  return {status = "Progressing", message = "no scheduler has looked at it yet"}
end
return {status = "Progressing", message = message}
