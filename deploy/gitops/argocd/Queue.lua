-- Argo CD's health of a Queue or Cohort: whether gangs are started from it, as of the spec that stands there now.
for _, condition in ipairs((obj.status or {}).conditions or {}) do
  local current = condition.observedGeneration == nil or condition.observedGeneration == obj.metadata.generation
  if condition.type == "Active" and current then
    if condition.status == "True" then
      return {status = "Healthy", message = condition.message or ""}
    elseif condition.reason == "Stopped" then
      return {status = "Suspended", message = condition.message or ""}
    end
    return {status = "Degraded", message = condition.message or ""}
  end
end
return {status = "Progressing", message = "no scheduler has looked at it yet"}
