/* Times as the reader tells them: in their own zone and language, and how long ago while that is near. */
/* Without this script a page shows them in UTC. */
{
const lang=document.documentElement.lang,day=new Intl.DateTimeFormat(lang,{dateStyle:"medium",timeStyle:"short"});
const ago=new Intl.RelativeTimeFormat(lang,{numeric:"auto"});
for(const e of document.querySelectorAll("time")){
const at=new Date(e.dateTime),minutes=Math.round((at-Date.now())/6e4);
e.title=day.format(at);
e.textContent=-1440>=minutes||minutes>0?e.title:-60>=minutes?ago.format(Math.round(minutes/60),"hour"):ago.format(minutes,"minute");
}
}
